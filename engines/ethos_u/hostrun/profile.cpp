// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/hostrun/profile.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "abi/named_data.h"
#include "engines/ethos_u/container/payload.h"
#include "engines/ethos_u/formats/part_system.h"
#include "engines/ethos_u/hostrun/ethos_u.h"
#include "engines/ethos_u/isa/driver_payload.h"
#include "engines/ethos_u/isa/system.h"
#include "engines/ethos_u/sim/decode.h"
#include "engines/ethos_u/sim/hazard.h"
#include "engines/ethos_u/sim/timeline.h"

namespace thimble::hostrun {
namespace {

namespace pte = formats::pte;
namespace sim = ethos_u::sim;

abi::DelegateRecord record_of(const pte::Program& program, size_t delegate) {
  abi::DelegateRecord record = {};
  const pte::NamedData* const data = pte::find_named_data(program, abi::kDelegatesKey);
  if (data != nullptr && data->bytes.size() >= (delegate + 1) * sizeof record) {
    std::memcpy(&record, data->bytes.data() + delegate * sizeof record, sizeof record);
  }
  return record;
}

ethos_u::MemoryMode mode_of(const abi::DelegateRecord& record, ethos_u::Generation generation) {
  switch (record.memory_mode) {
    case abi::MemoryMode::kSramOnly:
      return ethos_u::MemoryMode::kSramOnly;
    case abi::MemoryMode::kSharedSram:
      return ethos_u::MemoryMode::kSharedSram;
    case abi::MemoryMode::kDedicatedSram:
      return ethos_u::MemoryMode::kDedicatedSram;
    case abi::MemoryMode::kUnknown:
      break;
  }
  return generation == ethos_u::Generation::kU55 ? ethos_u::MemoryMode::kSharedSram
                                                 : ethos_u::MemoryMode::kDedicatedSram;
}

/// A system and its name for people.
struct NamedSystem {
  ethos_u::System system{};
  std::string name;
};

Result<NamedSystem> system_of(const ethos_u::Config& config, const abi::DelegateRecord& record,
                              std::span<const NpuSystem> systems) {
  const auto own = std::ranges::find(systems, std::string_view(config.name), &NpuSystem::npu);
  if (own != systems.end()) {
    THIMBLE_TRY(const formats::ethos_u::PartSystem part,
                formats::ethos_u::part_system(config, own->system, own->settings));
    return NamedSystem{
        part.system, fmt::format("{}{}", part.system.name,
                                 part.id == abi::kSystemOfPart ? " with the part's figures" : "")};
  }
  if (const ethos_u::System* const stated = ethos_u::system_of_id(record.system)) {
    return NamedSystem{*stated, stated->name};
  }
  const ethos_u::System& usual = *ethos_u::default_system(config.generation);
  if (record.system != abi::kSystemOfPart) return NamedSystem{usual, usual.name};
  return NamedSystem{
      usual, fmt::format("{}, not that of the part, whose figures need --target", usual.name)};
}

std::string pool_name(uint16_t mode) {
  constexpr const char* kNames[] = {"MAX",  "AVERAGE", "REDUCE_SUM", "SUM",
                                    "NONE", "MIN",     "ARGMAX_X",   "ARGMAX_Y"};
  return mode < std::size(kNames) ? kNames[mode] : "?";
}

std::string name_of(const sim::Step& step) {
  if (step.kind == sim::StepKind::kDma) return "DMA";
  const sim::KernelOperation& kernel = step.kernel;
  const std::string size =
      fmt::format(" {}x{}x{}", kernel.ofm.height, kernel.ofm.width, kernel.ofm.depth);
  switch (kernel.code) {
    case ethos_u::Operation::CONV:
      return fmt::format("CONV {}x{}{}", kernel.kernel.height, kernel.kernel.width, size);
    case ethos_u::Operation::DEPTHWISE:
      return fmt::format("DEPTHWISE {}x{}{}", kernel.kernel.height, kernel.kernel.width, size);
    case ethos_u::Operation::POOL:
      return "POOL " + pool_name(kernel.mode) + size;
    case ethos_u::Operation::RESIZE:
      return "RESIZE" + size;
    default:
      return "ELEMENTWISE" + size;
  }
}

/// Decodes the stream. Returns the names of kernels and DMAs by their word; appends its hazards.
std::map<uint32_t, std::string> read_stream(const ethos_u::Config& config,
                                            const std::vector<uint32_t>& words,
                                            std::vector<std::string>* hazards) {
  std::map<uint32_t, std::string> names;
  sim::Decoder decoder(config, words.data(), static_cast<uint32_t>(words.size()));
  sim::HazardChecker checker(config);
  sim::Step step;
  while (decoder.next(&step).none() && step.kind != sim::StepKind::kStop) {
    sim::Fault hazard;
    if (step.kind == sim::StepKind::kKernel) hazard = checker.kernel(step.word, step.kernel);
    if (step.kind == sim::StepKind::kDma) hazard = checker.dma(step.word, step.dma);
    if (step.kind == sim::StepKind::kKernelWait) checker.wait(true, step.parameter);
    if (step.kind == sim::StepKind::kDmaWait) checker.wait(false, step.parameter);
    if (step.kind == sim::StepKind::kKernel || step.kind == sim::StepKind::kDma) {
      names[step.word] = name_of(step);
    }
    if (hazard.none()) continue;
    hazards->push_back(fmt::format("word {} conflicts with word {}: {}", hazard.word,
                                   hazard.other_word, hazard.detail));
  }
  return names;
}

/// The command stream of an Ethos-U delegate, and its NPU.
struct Stream {
  const ethos_u::Config* config = nullptr;
  std::vector<uint32_t> words;
};

Result<Stream> stream_of(const pte::Program& program, size_t index, std::string_view label) {
  const Result<Bytes> commands = ethos_u_commands(program, program.plans[0].delegates[index]);
  ethos_u::DriverPayload header;
  if (!commands || !ethos_u::read_driver_payload(reinterpret_cast<const uint8_t*>(commands->data()),
                                                 static_cast<uint32_t>(commands->size()), header)) {
    return bad_input("{}: delegate {} has no valid command stream", label, index);
  }
  Stream stream;
  stream.config = ethos_u::config_of(header.config);
  if (stream.config == nullptr) {
    return unsupported("{}: delegate {} is for an unknown NPU", label, index);
  }
  stream.words.resize(header.stream_words);
  std::memcpy(stream.words.data(), commands->data() + header.stream_offset,
              stream.words.size() * sizeof(uint32_t));
  return stream;
}

/// Indices of the Ethos-U delegates of the first plan.
std::vector<size_t> delegates_of(const pte::Program& program) {
  std::vector<size_t> indices;
  for (size_t i = 0; i < program.plans[0].delegates.size(); ++i) {
    if (program.plans[0].delegates[i].id == abi::ethos_u::kDelegateId) indices.push_back(i);
  }
  return indices;
}

Result<NpuProfile> profile_of(const pte::Program& program, size_t index, std::string_view label,
                              std::span<const NpuSystem> systems) {
  THIMBLE_TRY(const Stream stream, stream_of(program, index, label));
  const auto& [config, words] = stream;
  NpuProfile profile;
  profile.delegate = index;
  const auto names = read_stream(*config, words, &profile.hazards);
  std::vector<sim::OperationTime> times(names.size());
  const abi::DelegateRecord record = record_of(program, index);
  THIMBLE_TRY(const NamedSystem system, system_of(*config, record, systems));
  sim::TimelineJob job;
  job.config = config;
  job.system = &system.system;
  job.mode = mode_of(record, config->generation);
  job.words = words.data();
  job.word_count = static_cast<uint32_t>(words.size());
  job.operations = times.data();
  job.operation_capacity = static_cast<uint32_t>(times.size());
  sim::Timeline timeline;
  const sim::Fault fault = sim::make_timeline(job, &timeline);
  if (!fault.none()) {
    return bad_input("{}: delegate {}: command at word {}: {}", label, index, fault.word,
                     fault.detail);
  }
  profile.npu = config->name;
  profile.kind = "ethos-u";
  profile.system = system.name;
  profile.cycles = timeline.cycles;
  profile.bytes_sram = timeline.read.of[0] + timeline.written.of[0];
  profile.bytes_external = timeline.read.of[1] + timeline.written.of[1];
  for (size_t i = 0; i < std::min<size_t>(times.size(), timeline.operation_count); ++i) {
    const sim::OperationTime& time = times[i];
    const auto name = names.find(time.word);
    profile.operations.push_back({name == names.end() ? "?" : name->second, time.word, time.start,
                                  time.end, sim::bound_name(time.bound), time.macs});
  }
  std::ranges::stable_sort(profile.operations, {}, &NpuOperation::start);
  return profile;
}

}  // namespace

Result<std::vector<NpuProfile>> ethos_u_profiles(const pte::Program& program,
                                                 std::string_view label,
                                                 std::span<const NpuSystem> systems) {
  std::vector<NpuProfile> profiles;
  for (const size_t index : delegates_of(program)) {
    THIMBLE_TRY(NpuProfile profile, profile_of(program, index, label, systems));
    profiles.push_back(std::move(profile));
  }
  return profiles;
}

Status check_ethos_u_hazards(const pte::Program& program, std::string_view label) {
  for (const size_t index : delegates_of(program)) {
    const Result<Stream> stream = stream_of(program, index, label);
    if (!stream) continue;
    std::vector<std::string> hazards;
    read_stream(*stream->config, stream->words, &hazards);
    if (hazards.empty()) continue;
    return bad_input(
        "{}: delegate {}: commands race, so that outputs depend on timing: {} ({} in total; "
        "--on host --profile runs the file anyway and lists them)",
        label, index, hazards[0], hazards.size());
  }
  return ok();
}

}  // namespace thimble::hostrun
