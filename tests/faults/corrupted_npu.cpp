// Payloads and command streams of the NPUs: checked as at load, then run by the simulator or the
// integer model in memories of exactly the size that the check allows.

#include <cstring>
#include <stdexcept>

#include "engines/axon/container/layers.h"
#include "engines/axon/model/model.h"
#include "engines/ethos_u/formats/payload.h"
#include "engines/ethos_u/isa/driver_payload.h"
#include "engines/ethos_u/sim/machine.h"
#include "engines/neutron/container/program.h"
#include "engines/neutron/formats/payload.h"
#include "engines/neutron/model/model.h"
#include "tests/faults/corrupted.h"

namespace thimble::faults {
namespace {

constexpr size_t kMemoryMax = size_t{256} << 10;  // larger memories only make the run slower
constexpr size_t kFastBytes = size_t{16} << 10;
constexpr uint64_t kCostMax = uint64_t{1} << 22;

uint32_t size_of(ByteView bytes) {
  return static_cast<uint32_t>(bytes.size());
}

/// Runs a stream with read-only constants, scratch and fast scratch.
ethos_u::sim::Fault run_stream(const ethos_u::Config& config, ByteView stream,
                               const ExactMemory& constants, const ExactMemory& scratch) {
  const ExactMemory words(stream);
  ethos_u::sim::Job job;
  job.config = &config;
  job.words = reinterpret_cast<const uint32_t*>(words.data());
  job.word_count = static_cast<uint32_t>(stream.size() / 4);
  job.max_cost = kCostMax;
  job.max_branches = 1000;
  job.regions[0] = {constants.data(), constants.size(), true};
  job.regions[1] = {scratch.data(), scratch.size(), false};
  const ExactMemory fast(kFastBytes);
  job.regions[2] = {fast.data(), fast.size(), false};
  size_t workspace_bytes = 0;
  const ethos_u::sim::Fault fault =
      ethos_u::sim::workspace_bytes(config, job.words, job.word_count, &workspace_bytes);
  if (!fault.none()) return fault;
  const ExactMemory workspace(std::min(workspace_bytes, kMemoryMax));
  job.workspace = workspace.data();
  job.workspace_bytes = workspace.size();
  return ethos_u::sim::run(job);
}

Outcome outcome_of(const ethos_u::sim::Fault& fault) {
  using ethos_u::sim::FaultKind;
  if (fault.none()) return Outcome::kRan;
  const bool is_outer =
      fault.kind == FaultKind::kUnknownCommand || fault.kind == FaultKind::kTruncated;
  return is_outer ? Outcome::kOuter : Outcome::kInside;
}

uint32_t axon_bytes(const axon::IoRecord& io) {
  return uint32_t{io.n} * io.c * io.h * io.w * io.element_bytes;
}

}  // namespace

Outcome run_ethos_u_stream(ByteView bytes, const Input& original) {
  const ExactMemory constants{ByteView(original.constants)}, scratch(original.scratch_bytes);
  return outcome_of(run_stream(*ethos_u::config_of(original.config), bytes, constants, scratch));
}

void prepare_ethos_u_stream(Input& input) {
  const auto payload = formats::ethos_u::read_payload(input.bytes);
  if (!payload) throw std::runtime_error(input.name + ": " + payload.error().message);
  const ExactMemory commands{ByteView(payload->commands)};
  ethos_u::DriverPayload driver;
  if (!ethos_u::read_driver_payload(commands.data(), size_of(payload->commands), driver)) {
    throw std::runtime_error(input.name + ": no command stream");
  }
  input.config = driver.config;
  input.constants = payload->weights;
  input.scratch_bytes = static_cast<size_t>(payload->scratch_bytes);
  const ByteView stream =
      ByteView(payload->commands).subspan(driver.stream_offset, size_t{driver.stream_words} * 4);
  input.bytes.assign(stream.begin(), stream.end());
}

Outcome run_ethos_u_payload(ByteView bytes, const Input&) {
  const auto payload = formats::ethos_u::read_payload(bytes);
  if (!payload) {
    const std::string_view text = as_text(bytes);
    const bool is_framed = text.starts_with("vela_bin_stream") && text.size() >= 64 &&
                           text.substr(text.size() - 32).starts_with("vela_end_stream");
    return is_framed ? Outcome::kInside : Outcome::kOuter;
  }
  const ExactMemory commands{ByteView(payload->commands)};
  ethos_u::DriverPayload driver;
  if (!ethos_u::read_driver_payload(commands.data(), size_of(payload->commands), driver)) {
    return Outcome::kInside;
  }
  const ethos_u::Config* const config = ethos_u::config_of(driver.config);
  if (config == nullptr || payload->scratch_bytes > static_cast<int64_t>(kMemoryMax)) {
    return Outcome::kInside;
  }
  const ExactMemory constants{ByteView(payload->weights)};
  const ExactMemory scratch(static_cast<size_t>(payload->scratch_bytes));
  const ByteView stream =
      ByteView(payload->commands).subspan(driver.stream_offset, size_t{driver.stream_words} * 4);
  const Outcome outcome = outcome_of(run_stream(*config, stream, constants, scratch));
  if (!constants.equals(payload->weights)) std::abort();
  return outcome == Outcome::kOuter ? Outcome::kInside : outcome;
}

Bytes damage_ethos_u_payload(const Input& input, const Input& other, Random& random) {
  auto payload = formats::ethos_u::read_payload(input.bytes);
  const auto another = formats::ethos_u::read_payload(other.bytes);
  if (!payload || !another || random() % 4 == 0) {
    return damage_words(input.bytes, other.bytes, 64, random);
  }
  switch (random() % 4) {
    case 0:
      payload->weights = damage_words(payload->weights, another->weights, 0, random);
      break;
    case 1:
      payload->scratch_bytes = static_cast<int64_t>(random() % (size_t{128} << 10));
      break;
    default: {
      const ExactMemory commands{ByteView(payload->commands)};
      ethos_u::DriverPayload driver;
      if (!ethos_u::read_driver_payload(commands.data(), size_of(payload->commands), driver)) break;
      const auto start = static_cast<std::ptrdiff_t>(driver.stream_offset);
      Input stream;
      stream.bytes.assign(payload->commands.begin() + start, payload->commands.end());
      Bytes changed = damage_stream(stream, stream, random);
      changed.resize(stream.bytes.size());  // as the driver's header says
      std::copy(changed.begin(), changed.end(), payload->commands.begin() + start);
    }
  }
  auto written = formats::ethos_u::write_payload(*payload);
  return written ? *written : input.bytes;
}

Outcome run_axon(ByteView bytes, const Input&) {
  const ExactMemory data(bytes);
  const axon::Status status = axon::check(data.data(), size_of(bytes));
  if (status != axon::Status::kOk) {
    const bool is_outer = status == axon::Status::kTruncated ||
                          status == axon::Status::kNoContainer ||
                          status == axon::Status::kBadVersion;
    return is_outer ? Outcome::kOuter : Outcome::kInside;
  }
  const axon::Container container(data.data());
  const axon::Header header = container.header();
  if (uint64_t{header.interlayer_bytes} + header.persistent_bytes > kMemoryMax) {
    return Outcome::kAccepted;
  }
  std::vector<ExactMemory> inputs, outputs;
  std::vector<const uint8_t*> in;
  std::vector<uint8_t*> out;
  for (uint32_t i = 0; i < header.input_count; ++i) {
    if (axon_bytes(container.input(i)) > kMemoryMax) return Outcome::kAccepted;
    in.push_back(inputs.emplace_back(axon_bytes(container.input(i)), 0x31).data());
  }
  for (uint32_t i = 0; i < header.output_count; ++i) {
    if (axon_bytes(container.output(i)) > kMemoryMax) return Outcome::kAccepted;
    out.push_back(outputs.emplace_back(axon_bytes(container.output(i))).data());
  }
  const ExactMemory interlayer(header.interlayer_bytes), persistent(header.persistent_bytes);
  axon::run({container, in.data(), out.data(), interlayer.data(), persistent.data()});
  if (!data.equals(bytes)) std::abort();
  return Outcome::kRan;
}

Bytes damage_axon(const Input& input, const Input& other, Random& random) {
  return damage_words(input.bytes, other.bytes, 12, random);
}

Outcome run_neutron(ByteView bytes, const Input&) {
  const auto payload = formats::neutron::read_payload(bytes);
  if (!payload) return Outcome::kOuter;
  const ExactMemory program{ByteView(payload->program)}, weights{ByteView(payload->weights)};
  uint32_t kernel = 0;
  const neutron::Status status =
      neutron::check(program.data(), static_cast<uint32_t>(program.size()), weights.data(),
                     static_cast<uint32_t>(weights.size()), kernel);
  if (status != neutron::Status::kOk) {
    const bool is_outer =
        status == neutron::Status::kTruncated || status == neutron::Status::kNoProgram ||
        status == neutron::Status::kBadVersion || status == neutron::Status::kBadHash;
    return is_outer ? Outcome::kOuter : Outcome::kInside;
  }
  const neutron::Program list(program.data());
  const neutron::Header header = list.header();
  uint64_t memory = uint64_t{header.scratch_bytes} + header.prefetch_bytes;
  for (uint32_t i = 0; i < header.input_count + header.output_count; ++i) {
    memory += list.input(i).bytes;
  }
  if (memory > kMemoryMax) return Outcome::kAccepted;
  std::vector<ExactMemory> memories;
  std::vector<const uint8_t*> in;
  std::vector<uint8_t*> out;
  for (uint32_t i = 0; i < header.input_count; ++i) {
    in.push_back(memories.emplace_back(list.input(i).bytes, 0x31).data());
  }
  for (uint32_t i = 0; i < header.output_count; ++i) {
    out.push_back(memories.emplace_back(list.output(i).bytes).data());
  }
  const ExactMemory scratch(header.scratch_bytes), prefetch(header.prefetch_bytes);
  neutron::Job job = {list, weights.data(), in.data(), out.data(), scratch.data()};
  job.prefetch = prefetch.data();
  neutron::run(job);
  if (!program.equals(payload->program) || !weights.equals(payload->weights)) std::abort();
  return Outcome::kRan;
}

Bytes damage_neutron(const Input& input, const Input& other, Random& random) {
  auto payload = formats::neutron::read_payload(input.bytes);
  const auto another = formats::neutron::read_payload(other.bytes);
  if (!payload || !another || random() % 8 == 0) {
    return damage_words(input.bytes, other.bytes, 4, random);
  }
  constexpr size_t kKeptBytes = 8;  // magic and version
  const size_t program_bytes = payload->program.size(), weight_bytes = payload->weights.size();
  if (random() % 8 == 0 && weight_bytes != 0) {
    payload->weights = damage_words(payload->weights, another->weights, 0, random);
    payload->weights.resize(weight_bytes);
  } else {
    payload->program = damage_words(payload->program, another->program, kKeptBytes, random);
    payload->program.resize(program_bytes);
  }
  // An attacker can compute the hash.
  neutron::Header header;
  if (random() % 16 != 0 && payload->program.size() >= sizeof header) {
    std::memcpy(&header, payload->program.data(), sizeof header);
    if (header.program_bytes <= program_bytes && header.program_bytes >= sizeof header &&
        header.weight_bytes <= weight_bytes) {
      header.content_hash = neutron::content_hash(
          reinterpret_cast<const uint8_t*>(payload->program.data()), header.program_bytes,
          reinterpret_cast<const uint8_t*>(payload->weights.data()), header.weight_bytes);
      std::memcpy(payload->program.data(), &header, sizeof header);
    }
  }
  auto written = formats::neutron::write_payload(*payload);
  return written ? *written : damage_words(input.bytes, other.bytes, 4, random);
}

}  // namespace thimble::faults
