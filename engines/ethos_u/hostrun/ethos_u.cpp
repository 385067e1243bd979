// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/hostrun/ethos_u.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "abi/named_data.h"
#include "base/aligned_bytes.h"
#include "base/size_text.h"
#include "engines/ethos_u/container/payload.h"
#include "engines/ethos_u/delegate/backend.h"
#include "engines/ethos_u/formats/payload.h"
#include "engines/ethos_u/hostrun/linux.h"
#include "engines/ethos_u/hostrun/profile.h"
#include "engines/ethos_u/isa/driver_payload.h"
#include "engines/ethos_u/sim/device.h"

namespace thimble::hostrun {
namespace {

namespace pte = formats::pte;
namespace sim = ethos_u::sim;

/// Bound of the memory for the simulation of a file's streams, workspace and fast scratch: a
/// constant, and a multiple of the file's payloads. Both are below those of docs/faults.md, because
/// reading the file needs memory too.
constexpr size_t kSimulationBytesBase = size_t{14} << 20, kSimulationBytesPerByte = 60;
/// Used if the file has no size: the largest fast scratch of Arm's memory modes.
constexpr size_t kFastBytesDefault = size_t{512} << 10;

/// Bytes of fast scratch outside of the arena.
size_t fast_bytes_of(const pte::Program& program) {
  const pte::NamedData* const data = pte::find_named_data(program, abi::kDelegatesKey);
  if (data == nullptr) return kFastBytesDefault;
  size_t most = 0;
  for (size_t at = 0; at + sizeof(abi::DelegateRecord) <= data->bytes.size();
       at += sizeof(abi::DelegateRecord)) {
    abi::DelegateRecord record;
    std::memcpy(&record, data->bytes.data() + at, sizeof record);
    if (record.fast_offset == abi::kFastOnDevice) most = std::max<size_t>(most, record.fast_bytes);
  }
  return most;
}

size_t simulation_bytes_max(const pte::Program& program) {
  size_t payload_bytes = 0;
  for (const auto& blob : program.delegate_blobs) payload_bytes += blob.bytes.size();
  for (const auto& data : program.named_data) payload_bytes += data.bytes.size();
  return kSimulationBytesBase + kSimulationBytesPerByte * payload_bytes;
}

/// Workspace in bytes for one stream; 0 if it cannot be read.
size_t workspace_for(const Bytes& commands, const ethos_u::DriverPayload& header,
                     const ethos_u::Config& config) {
  std::vector<uint32_t> words(header.stream_words);
  std::memcpy(words.data(), commands.data() + header.stream_offset, words.size() * 4);
  size_t bytes = 0;
  const sim::Fault fault = sim::workspace_bytes(config, words.data(), header.stream_words, &bytes);
  return fault.none() ? bytes : 0;
}

Result<std::unique_ptr<Device>> open_ethos_u(const pte::Program& program, std::string_view label) {
  THIMBLE_TRY(const std::optional<EthosUNeeds> needs, read_ethos_u_needs(program, label));
  assert(needs && "the program must call the delegate");
  return std::unique_ptr<Device>(std::make_unique<EthosUDevice>(*needs));
}

Result<FirmwareDevice> firmware_device(const pte::Program& program, std::string_view label) {
  THIMBLE_TRY(const std::optional<EthosUNeeds> needs, read_ethos_u_needs(program, label));
  assert(needs && "called for a program that calls the delegate");
  const std::string name = needs->config->name;
  const std::string fast = std::to_string(needs->fast_bytes);
  FirmwareDevice device;
  device.simulated = {"-n", name, std::to_string(needs->workspace_bytes), fast};
  device.on_board = {"-m", name, fast};
  device.fvp = {fmt::format("ethosu.num_macs={}", needs->config->macs)};
  if (needs->config->generation == ethos_u::Generation::kU85) {
    device.fvp_refusal = fmt::format(
        "{}: a Corstone-300 has an Ethos-U55 or U65; no firmware image has the memory map of a "
        "Corstone-320",
        name);
  }
  return device;
}

}  // namespace

Result<Bytes> ethos_u_commands(const pte::Program& program, const pte::BackendDelegate& row) {
  THIMBLE_TRY(const auto payload,
              formats::ethos_u::read_payload(program.delegate_blobs[row.blob].bytes));
  if (!payload.commands_key) return payload.commands;
  const pte::NamedData* const data = pte::find_named_data(program, *payload.commands_key);
  if (data == nullptr) return bad_input("the file has no named data '{}'", *payload.commands_key);
  return data->bytes;
}

Result<std::optional<EthosUNeeds>> read_ethos_u_needs(const pte::Program& program,
                                                      std::string_view label) {
  std::optional<EthosUNeeds> needs;
  for (const pte::ExecutionPlan& plan : program.plans) {
    for (const pte::BackendDelegate& row : plan.delegates) {
      if (row.id != abi::ethos_u::kDelegateId) continue;
      if (!needs) needs.emplace();
      const Result<Bytes> commands = ethos_u_commands(program, row);
      ethos_u::DriverPayload header;
      if (!commands ||
          !ethos_u::read_driver_payload(reinterpret_cast<const uint8_t*>(commands->data()),
                                        static_cast<uint32_t>(commands->size()), header)) {
        continue;
      }
      // The runtime rejects a second delegate for another NPU.
      if (needs->config == nullptr) needs->config = ethos_u::config_of(header.config);
      if (needs->config == nullptr) {
        return unsupported(
            "{}: a delegate call for an NPU with configuration {:#010x}, which is not one"
            " of the Ethos-U55, U65 and U85",
            label, header.config);
      }
      const size_t bytes = workspace_for(*commands, header, *needs->config);
      needs->workspace_bytes = std::max(needs->workspace_bytes, bytes);
    }
  }
  if (!needs) return needs;
  if (needs->config == nullptr) needs->config = &ethos_u::kConfigs[0];
  needs->fast_bytes = fast_bytes_of(program);
  const size_t most = simulation_bytes_max(program);
  if (needs->workspace_bytes > most || needs->fast_bytes > most - needs->workspace_bytes) {
    const auto bytes = [](size_t count) { return with_commas(static_cast<int64_t>(count)); };
    return bad_input(
        "{}: the simulation of the NPU needs {} bytes of workspace and {} bytes of fast memory, at "
        "most {} bytes are expected for a file of this size",
        label, bytes(needs->workspace_bytes), bytes(needs->fast_bytes), bytes(most));
  }
  return needs;
}

struct EthosUDevice::State {
  explicit State(const EthosUNeeds& needs)
      : workspace(needs.workspace_bytes),
        fast(needs.fast_bytes),
        device(*needs.config, workspace.data(), workspace.size()) {
    device.set_max_cost(needs.max_cost);
    device.set_start_late(needs.start_late);
    npu.read = [](void* user, uint32_t offset) {
      return static_cast<sim::Device*>(user)->read(offset);
    };
    npu.write = [](void* user, uint32_t offset, uint32_t value) {
      static_cast<sim::Device*>(user)->write(offset, value);
    };
    npu.user = &device;
    npu.fast_memory = fast.data();
    npu.fast_bytes = static_cast<uint32_t>(fast.size());
    npu.polls = 1;  // a started stream has ended when the start returns
    device.connect({fast.data(), npu.fast_bytes});
    table.delegates = &delegates;
  }

  AlignedBytes workspace, fast;
  sim::Device device;
  thimble_ethos_u npu = {};
  runtime::DelegateBackend row = runtime::ethos_u::backend(&npu);
  runtime::DelegateBackends delegates = runtime::delegates_of(&row, 1);
  kernels::KernelTable table = kernels::all_kernels();
};

EthosUDevice::EthosUDevice(const EthosUNeeds& needs) : state_(std::make_unique<State>(needs)) {}
EthosUDevice::~EthosUDevice() = default;

const kernels::KernelTable& EthosUDevice::kernels() const {
  return state_->table;
}

runtime::DelegateBackend EthosUDevice::row() const {
  return state_->row;
}

void EthosUDevice::connect(const void* data, size_t bytes, bool read_only) {
  // The device never writes to read-only memory.
  auto* const memory = static_cast<uint8_t*>(const_cast<void*>(data));
  [[maybe_unused]] const bool connected = state_->device.connect({memory, bytes, read_only});
  assert(connected && "a model connects at most its file and its memory");
}

std::string EthosUDevice::fault_text() const {
  const sim::Fault& fault = state_->device.fault();
  if (fault.none()) return "";
  return fmt::format("{}, command at word {} of the stream: {}", state_->device.config().name,
                     fault.word, fault.detail);
}

std::vector<DeviceKind> ethos_u_devices() {
  DeviceKind kind;
  kind.id = abi::ethos_u::kDelegateId;
  kind.open = open_ethos_u;
  kind.open_linux = open_linux_ethos_u;
  kind.image = "runner-ethos-u";
  kind.header = "engines/ethos_u/delegate/backend.h";
  kind.cpp_namespace = "ethos_u";
  kind.object = "thimble_npu";
  kind.has_background = true;
  kind.profile = ethos_u_profiles;
  kind.check_hazards = check_ethos_u_hazards;
  kind.firmware = firmware_device;
  return {kind};
}

}  // namespace thimble::hostrun
