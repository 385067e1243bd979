// SPDX-License-Identifier: Apache-2.0
// Programs of NPUs that the checks accept are executed, in memories of exactly the size that the
// program states. The address sanitizer detects every access outside of them.

#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "base/aligned_bytes.h"
#include "engines/axon/container/layers.h"
#include "engines/axon/model/model.h"
#include "engines/ethos_u/container/payload.h"
#include "engines/ethos_u/formats/payload.h"
#include "engines/ethos_u/isa/driver_payload.h"
#include "engines/ethos_u/sim/hazard.h"
#include "engines/ethos_u/sim/machine.h"
#include "engines/ethos_u/text/payload.h"
#include "engines/ethos_u/text/text.h"
#include "engines/neutron/container/payload.h"
#include "engines/neutron/container/program.h"
#include "engines/neutron/model/model.h"
#include "tests/fuzz/exact_memory.h"
#include "tests/fuzz/mutate_npu.h"
#include "tests/fuzz/npu_run_input.h"
#include "tests/fuzz/targets.h"

namespace thimble::fuzz {
namespace {

/// Programs that need more memory or more products are not executed: they only take longer.
constexpr uint64_t kMemoryMax = uint64_t{1} << 18;
constexpr uint64_t kWorkMax = uint64_t{1} << 20;

/// Inputs and outputs of one run.
struct Ios {
  explicit Ios(size_t input_count) : input_count(input_count) {}
  /// The inputs come first.
  void add(size_t bytes) {
    const bool is_input = memories.size() < input_count;
    uint8_t* const data = memories.emplace_back(bytes, is_input ? 0x31 : 0).data();
    if (is_input) {
      inputs.push_back(data);
    } else {
      outputs.push_back(data);
    }
  }
  size_t input_count;
  std::deque<ExactMemory> memories;
  std::vector<const uint8_t*> inputs;
  std::vector<uint8_t*> outputs;
};

// --- Ethos-U -------------------------------------------------------------------------------------

/// The memories of one run: region 0 has the constants, the others begin with the same bytes.
struct Regions {
  explicit Regions(const EthosURunInput& input) {
    memories.emplace_back(ByteView(input.constants));
    for (uint32_t i = 1; i < ethos_u::sim::kRegions; ++i) {
      const ExactMemory& memory = memories.emplace_back(input.scratch_bytes);
      for (size_t k = 0; k < memory.size(); ++k) {
        memory.data()[k] = static_cast<uint8_t>((k * 37 + i * 11) ^ (k >> 6) ^ input.seed);
      }
    }
  }
  std::deque<ExactMemory> memories;
};

ethos_u::sim::Fault simulate(const EthosURunInput& input, Regions& regions, size_t workspace_bytes,
                             bool slow) {
  const ExactMemory workspace(workspace_bytes);
  const ExactMemory words(std::as_bytes(std::span(input.words)));
  ethos_u::sim::HazardChecker hazards(input.npu());
  const ethos_u::sim::Observer observer = hazards.observer();
  ethos_u::sim::Job job;
  job.config = &input.npu();
  job.words = reinterpret_cast<const uint32_t*>(words.data());
  job.word_count = static_cast<uint32_t>(input.words.size());
  for (size_t i = 0; i < regions.memories.size(); ++i) {
    job.regions[i] = {regions.memories[i].data(), regions.memories[i].size(), i == 0};
  }
  job.workspace = workspace.data();
  job.workspace_bytes = workspace_bytes;
  job.max_repeat_cost = 4096;
  job.max_cost = kWorkMax;
  job.slow = slow;
  if (slow) job.observer = &observer;
  return ethos_u::sim::run(job);
}

ethos_u::sim::Fault decode(const EthosURunInput& input, size_t& workspace_bytes) {
  return ethos_u::sim::workspace_bytes(input.npu(), input.words.data(),
                                       static_cast<uint32_t>(input.words.size()), &workspace_bytes);
}

/// The fast and the general paths of the simulator agree on every stream.
Outcome run_stream(const EthosURunInput& input) {
  size_t workspace_bytes = 0;
  if (!decode(input, workspace_bytes).none() || workspace_bytes > kMemoryMax) {
    return Outcome::kRejected;
  }
  Regions fast(input), slow(input);
  const ethos_u::sim::Fault fault = simulate(input, fast, workspace_bytes, false);
  const ethos_u::sim::Fault general = simulate(input, slow, workspace_bytes, true);
  if (fault.kind != general.kind || fault.word != general.word) std::abort();
  if (!fast.memories[0].equals(input.constants)) std::abort();
  if (!fault.none()) return Outcome::kRejected;
  for (size_t i = 0; i < fast.memories.size(); ++i) {
    const ExactMemory& memory = slow.memories[i];
    if (!fast.memories[i].equals(std::as_bytes(std::span(memory.data(), memory.size())))) {
      std::abort();
    }
  }
  return Outcome::kExecuted;
}

Outcome run_ethos_u(ByteView bytes) {
  return run_stream(read_ethos_u_run(bytes));
}

/// A payload of the delegate with the driver's payload in it: printed, and run with its constants
/// and scratch.
Outcome run_ethos_u_payload(ByteView bytes) {
  auto payload = formats::ethos_u::read_payload(bytes);
  if (!payload) return Outcome::kRejected;
  const auto text = ethos_u::text::read_payload(payload->commands, "x");
  if (text) (void)ethos_u::text::print(*text);
  const ExactMemory commands{ByteView(payload->commands)};
  ethos_u::DriverPayload driver;
  if (!ethos_u::read_driver_payload(commands.data(), static_cast<uint32_t>(commands.size()),
                                    driver)) {
    return Outcome::kRejected;
  }
  const ethos_u::Config* const config = ethos_u::config_of(driver.config);
  if (config == nullptr) return Outcome::kRejected;
  if (payload->scratch_bytes > static_cast<int64_t>(kMemoryMax)) return Outcome::kAccepted;
  EthosURunInput input;
  input.config = static_cast<uint8_t>(config - ethos_u::kConfigs);
  input.constants = std::move(payload->weights);
  input.scratch_bytes = static_cast<size_t>(payload->scratch_bytes);
  input.words.resize(driver.stream_words);
  std::memcpy(input.words.data(), commands.data() + driver.stream_offset,
              input.words.size() * sizeof(uint32_t));
  return run_stream(input);
}

/// The words are commands of the NPU's generation and end with STOP.
bool is_ethos_u_run(ByteView bytes) {
  using ethos_u::sim::FaultKind;
  size_t workspace_bytes = 0;
  const FaultKind kind = decode(read_ethos_u_run(bytes), workspace_bytes).kind;
  return kind != FaultKind::kUnknownCommand && kind != FaultKind::kTruncated;
}

/// The first and the last block have their names.
bool is_ethos_u_payload(ByteView bytes) {
  using namespace abi::ethos_u;
  const auto begins_with = [](ByteView block, Block name) {
    return std::memcmp(block.data(), kBlockNames[static_cast<size_t>(name)], kNameBytes) == 0;
  };
  return bytes.size() >= 2 * kHeaderBytes && begins_with(bytes, Block::kBegin) &&
         begins_with(bytes.last(kHeaderBytes), Block::kEnd);
}

// --- AXON ----------------------------------------------------------------------------------------

uint64_t elements(const axon::Operand& operand) {
  return uint64_t{operand.n} * operand.c * operand.h * operand.w;
}

/// An upper bound of products and copies of the list.
uint64_t work_of(const axon::Container& list) {
  uint64_t work = 0;
  for (uint32_t i = 0; i < list.header().layer_count && work <= kWorkMax; ++i) {
    const axon::LayerRecord layer = list.layer(i);
    const axon::Operand& in = layer.inputs[0];
    const bool dense = layer.operation == axon::Operation::kFullyConnected;
    const uint64_t window = dense ? elements(in) : uint64_t{layer.kernel_h} * layer.kernel_w * in.c;
    work += elements(layer.output) * std::max<uint64_t>(window, 1);
    for (const axon::Operand& each : layer.inputs) work += elements(each);
  }
  return work;
}

Outcome run_axon(ByteView bytes) {
  const ExactMemory list(bytes);
  if (axon::check(list.data(), static_cast<uint32_t>(list.size())) != axon::Status::kOk) {
    return Outcome::kRejected;
  }
  const axon::Container container(list.data());
  const axon::Header header = container.header();
  const auto dense_bytes = [](const axon::IoRecord& io) {
    return uint64_t{io.n} * io.c * io.h * io.w * io.element_bytes;
  };
  const uint32_t ios = uint32_t{header.input_count} + header.output_count;
  uint64_t memory_bytes = uint64_t{header.interlayer_bytes} + header.persistent_bytes;
  for (uint32_t i = 0; i < ios; ++i) memory_bytes += dense_bytes(container.input(i));
  if (memory_bytes > kMemoryMax || work_of(container) > kWorkMax) return Outcome::kAccepted;
  Ios memories(header.input_count);
  for (uint32_t i = 0; i < ios; ++i) memories.add(dense_bytes(container.input(i)));
  const ExactMemory interlayer(header.interlayer_bytes), persistent(header.persistent_bytes);
  axon::run({container, memories.inputs.data(), memories.outputs.data(), interlayer.data(),
             persistent.data()});
  if (!list.equals(bytes)) std::abort();
  return Outcome::kExecuted;
}

// --- Neutron -------------------------------------------------------------------------------------

uint64_t elements(const neutron::View& view) {
  uint64_t count = 1;
  for (const uint32_t dim : view.dims) {
    if (dim != 0 && count > (uint64_t{1} << 40) / dim) return uint64_t{1} << 40;
    count *= dim;
  }
  return count;
}

uint64_t work_of(const neutron::Program& list) {
  uint64_t work = 0;
  for (uint32_t i = 0; i < list.header().kernel_count && work <= kWorkMax; ++i) {
    const neutron::KernelRecord kernel = list.kernel(i);
    const neutron::View& in = kernel.operands[0];
    const uint64_t last = in.rank == 0 ? 1 : in.dims[std::min<uint32_t>(in.rank, 6) - 1];
    const uint64_t outputs = elements(kernel.output);
    const uint64_t window = std::max<uint64_t>(uint64_t{kernel.kernel_h} * kernel.kernel_w, 1) *
                            std::max<uint64_t>(last, 1);
    if (outputs > kWorkMax || window > kWorkMax) return kWorkMax + 1;
    work +=
        outputs * window + elements(in) + elements(kernel.operands[1]) + elements(kernel.padded);
  }
  return work;
}

/// Program and weights of a payload, each in memory of its own.
struct KernelList {
  explicit KernelList(const abi::neutron::PayloadView& view)
      : program(std::as_bytes(std::span(view.program, view.program_bytes))),
        weights(std::as_bytes(std::span(view.weights, view.weight_bytes))) {}
  [[nodiscard]] neutron::Status check() const {
    uint32_t kernel = 0;
    return neutron::check(program.data(), static_cast<uint32_t>(program.size()), weights.data(),
                          static_cast<uint32_t>(weights.size()), kernel);
  }
  ExactMemory program, weights;
};

/// Returns null if the payload is not complete, or has NXP's microcode.
std::unique_ptr<KernelList> kernel_list_of(ByteView bytes) {
  const AlignedBytes payload(bytes);
  abi::neutron::PayloadView view;
  abi::neutron::PayloadProblem problem;
  if (!abi::neutron::read_payload(payload.data(), static_cast<uint32_t>(payload.size()), view,
                                  problem) ||
      view.magic != neutron::kMagic) {
    return nullptr;
  }
  return std::make_unique<KernelList>(view);
}

Outcome run_neutron(ByteView bytes) {
  const std::unique_ptr<KernelList> own = kernel_list_of(bytes);
  if (own == nullptr || own->check() != neutron::Status::kOk) return Outcome::kRejected;
  const neutron::Program list(own->program.data());
  const neutron::Header header = list.header();
  const uint32_t ios = header.input_count + header.output_count;
  uint64_t memory_bytes = uint64_t{header.scratch_bytes} + header.prefetch_bytes;
  for (uint32_t i = 0; i < ios; ++i) memory_bytes += list.input(i).bytes;
  if (memory_bytes > kMemoryMax || work_of(list) > kWorkMax) return Outcome::kAccepted;
  Ios memories(header.input_count);
  for (uint32_t i = 0; i < ios; ++i) memories.add(list.input(i).bytes);
  const ExactMemory scratch(header.scratch_bytes), prefetch(header.prefetch_bytes);
  const ExactMemory profile(header.profile_bytes);
  neutron::Job job = {list, own->weights.data(), memories.inputs.data(), memories.outputs.data(),
                      scratch.data()};
  job.prefetch = prefetch.data();
  job.profile = header.profile_bytes == 0 ? nullptr : profile.data();
  neutron::run(job);
  if (own->check() != neutron::Status::kOk) std::abort();  // the hash: nothing has changed
  return Outcome::kExecuted;
}

}  // namespace

bool is_axon_list(ByteView bytes) {
  using axon::Status;
  const AlignedBytes list(bytes);
  const Status status = axon::check_interface(list.data(), static_cast<uint32_t>(list.size()));
  return status != Status::kTruncated && status != Status::kNoContainer &&
         status != Status::kBadVersion;
}

bool is_neutron_payload(ByteView bytes) {
  using neutron::Status;
  const std::unique_ptr<KernelList> list = kernel_list_of(bytes);
  if (list == nullptr) return false;
  const Status status = list->check();
  return status != Status::kTruncated && status != Status::kNoProgram &&
         status != Status::kBadVersion && status != Status::kBadHash;
}

std::vector<Target> npu_run_targets() {
  return {{"axon_run", run_axon, mutate_axon_list, is_axon_list, nullptr, repair_axon_list},
          {"ethos_u_payload", run_ethos_u_payload, mutate_ethos_u_payload, is_ethos_u_payload},
          {"ethos_u_run", run_ethos_u, mutate_ethos_u_run, is_ethos_u_run},
          {"neutron_run", run_neutron, mutate_neutron_payload, is_neutron_payload, nullptr,
           repair_neutron_payload}};
}

}  // namespace thimble::fuzz
