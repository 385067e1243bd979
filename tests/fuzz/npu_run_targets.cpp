// Programs of NPUs that the checks accept are executed, in memories of exactly the size that the
// program states. The address sanitizer detects every access outside of them.

#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/aligned_bytes.h"
#include "engines/axon/container/layers.h"
#include "engines/axon/model/model.h"
#include "engines/ethos_u/sim/hazard.h"
#include "engines/ethos_u/sim/machine.h"
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

// --- Ethos-U -------------------------------------------------------------------------------------

constexpr size_t kRegionBytes = 24 << 10;

/// The memories of one run: region 0 has the constants, the others begin with the same bytes.
struct Regions {
  explicit Regions(const EthosURunInput& input) {
    memories.emplace_back(input.constants.size());
    if (!input.constants.empty()) {
      std::memcpy(memories[0].data(), input.constants.data(), input.constants.size());
    }
    for (uint32_t i = 1; i < ethos_u::sim::kRegions; ++i) {
      ExactMemory& memory = memories.emplace_back(kRegionBytes);
      for (size_t k = 0; k < kRegionBytes; ++k) {
        memory.data()[k] = static_cast<uint8_t>((k * 37 + i * 11) ^ (k >> 6) ^ input.seed);
      }
    }
  }
  std::vector<ExactMemory> memories;
};

ethos_u::sim::Fault simulate(const EthosURunInput& input, Regions& regions, size_t workspace_bytes,
                             bool slow) {
  const ExactMemory workspace(workspace_bytes);
  const ExactMemory words(input.words.size() * sizeof(uint32_t));
  if (!input.words.empty()) {
    std::memcpy(words.data(), input.words.data(), input.words.size() * sizeof(uint32_t));
  }
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
  job.max_branches = 64;
  job.max_cost = kWorkMax;
  job.slow = slow;
  if (slow) job.observer = &observer;
  return ethos_u::sim::run(job);
}

/// The fast and the general paths of the simulator agree on every stream.
Outcome run_ethos_u(ByteView bytes) {
  const EthosURunInput input = read_ethos_u_run(bytes);
  size_t workspace_bytes = 0;
  const ethos_u::sim::Fault decoded = ethos_u::sim::workspace_bytes(
      input.npu(), input.words.data(), static_cast<uint32_t>(input.words.size()), &workspace_bytes);
  if (!decoded.none() || workspace_bytes > kMemoryMax) return Outcome::kRejected;
  Regions fast(input), slow(input);
  const ethos_u::sim::Fault fault = simulate(input, fast, workspace_bytes, false);
  const ethos_u::sim::Fault general = simulate(input, slow, workspace_bytes, true);
  if (fault.kind != general.kind || fault.word != general.word) std::abort();
  if (!fault.none()) return Outcome::kRejected;
  for (size_t i = 0; i < fast.memories.size(); ++i) {
    const ExactMemory& memory = fast.memories[i];
    if (memory.size() == 0) continue;
    if (std::memcmp(memory.data(), slow.memories[i].data(), memory.size()) != 0) std::abort();
  }
  return Outcome::kAccepted;
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
  const AlignedBytes list(bytes);
  if (axon::check(list.data(), static_cast<uint32_t>(list.size())) != axon::Status::kOk) {
    return Outcome::kRejected;
  }
  const axon::Container container(list.data());
  const axon::Header header = container.header();
  const auto dense_bytes = [](const axon::IoRecord& io) {
    return uint64_t{io.n} * io.c * io.h * io.w * io.element_bytes;
  };
  uint64_t memory_bytes = uint64_t{header.interlayer_bytes} + header.persistent_bytes;
  for (uint32_t i = 0; i < uint32_t{header.input_count} + header.output_count; ++i) {
    memory_bytes += dense_bytes(container.input(i));
  }
  if (memory_bytes > kMemoryMax || work_of(container) > kWorkMax) return Outcome::kRejected;
  std::vector<ExactMemory> memories;
  std::vector<const uint8_t*> inputs;
  std::vector<uint8_t*> outputs;
  for (uint32_t i = 0; i < header.input_count; ++i) {
    memories.emplace_back(dense_bytes(container.input(i)));
    inputs.push_back(memories.back().data());
  }
  for (uint32_t i = 0; i < header.output_count; ++i) {
    memories.emplace_back(dense_bytes(container.output(i)));
    outputs.push_back(memories.back().data());
  }
  const ExactMemory interlayer(header.interlayer_bytes), persistent(header.persistent_bytes);
  axon::run({container, inputs.data(), outputs.data(), interlayer.data(), persistent.data()});
  if (std::memcmp(list.data(), bytes.data(), bytes.size()) != 0) std::abort();
  return Outcome::kAccepted;
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

Outcome run_neutron(ByteView bytes) {
  const AlignedBytes payload(bytes);
  abi::neutron::PayloadView view;
  abi::neutron::PayloadProblem problem;
  if (!abi::neutron::read_payload(payload.data(), static_cast<uint32_t>(payload.size()), view,
                                  problem)) {
    return Outcome::kRejected;
  }
  uint32_t kernel = 0;
  if (view.magic != neutron::kMagic ||
      neutron::check(view.program, view.program_bytes, view.weights, view.weight_bytes, kernel) !=
          neutron::Status::kOk) {
    return Outcome::kRejected;
  }
  const neutron::Program list(view.program);
  const neutron::Header header = list.header();
  uint64_t memory_bytes = uint64_t{header.scratch_bytes} + header.prefetch_bytes;
  for (uint32_t i = 0; i < header.input_count + header.output_count; ++i) {
    memory_bytes += list.input(i).bytes;
  }
  if (memory_bytes > kMemoryMax || work_of(list) > kWorkMax) return Outcome::kRejected;
  std::vector<ExactMemory> memories;
  std::vector<const uint8_t*> inputs;
  std::vector<uint8_t*> outputs;
  for (uint32_t i = 0; i < header.input_count; ++i) {
    memories.emplace_back(list.input(i).bytes);
    inputs.push_back(memories.back().data());
  }
  for (uint32_t i = 0; i < header.output_count; ++i) {
    memories.emplace_back(list.output(i).bytes);
    outputs.push_back(memories.back().data());
  }
  const ExactMemory scratch(header.scratch_bytes), prefetch(header.prefetch_bytes);
  const ExactMemory profile(header.profile_bytes);
  neutron::Job job = {list, view.weights, inputs.data(), outputs.data(), scratch.data()};
  job.prefetch = prefetch.data();
  job.profile = header.profile_bytes == 0 ? nullptr : profile.data();
  neutron::run(job);
  if (std::memcmp(payload.data(), bytes.data(), bytes.size()) != 0) std::abort();
  return Outcome::kAccepted;
}

}  // namespace

std::vector<Target> npu_run_targets() {
  return {{"axon_run", run_axon, mutate_axon_list},
          {"ethos_u_run", run_ethos_u, mutate_ethos_u_run},
          {"neutron_run", run_neutron, mutate_neutron_payload}};
}

}  // namespace thimble::fuzz
