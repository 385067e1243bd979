// SPDX-License-Identifier: Apache-2.0
// The simulator as the NPU of each delegate, on hosts. A delegate has its own simulator of the
// configuration for which its stream was compiled. All memory is from the method's allocator.

#include <new>

#include "engines/ethos_u/container/payload.h"
#include "engines/ethos_u/executorch/npu.h"
#include "engines/ethos_u/isa/driver_payload.h"
#include "engines/ethos_u/sim/device.h"

namespace thimble::executorch {
namespace {

using abi::Status;
namespace npu = thimble::ethos_u;
namespace sim = thimble::ethos_u::sim;
namespace payload = abi::ethos_u;

constexpr size_t kWorkspaceMax = size_t{1} << 30;  // a stream that needs more is invalid
constexpr uint32_t kFastBytes = 512U << 10;        // the largest of Arm's memory modes
constexpr uint64_t kMaxCost = uint64_t{1} << 44;   // stops an endless stream

/// The simulator is made anew for each run, because the addresses of its memories may differ.
struct Simulator {
  thimble_ethos_u registers = {};
  const npu::Config* config = nullptr;
  uint8_t* workspace = nullptr;
  size_t workspace_bytes = 0;
  alignas(sim::Device) unsigned char device[sizeof(sim::Device)];

  sim::Device& make_device() {
    auto& made = *new (device) sim::Device(*config, workspace, workspace_bytes);
    made.set_max_cost(kMaxCost);
    return made;
  }
};

Simulator& simulator_of(LoadedDelegate& delegate) {
  return *static_cast<Simulator*>(delegate.device);
}

uint32_t read_register(void* user, uint32_t offset) {
  return static_cast<sim::Device*>(user)->read(offset);
}
void write_register(void* user, uint32_t offset, uint32_t value) {
  static_cast<sim::Device*>(user)->write(offset, value);
}

/// Finds the driver payload with the command stream.
Status find_commands(const runtime::DelegateSource& source, runtime::ByteRegion& commands) {
  payload::PayloadView view;
  if (payload::read_payload(source.payload.data, source.payload.bytes, view) != Status::kOk) {
    return Status::kBadPayload;
  }
  commands = {view.commands.data, view.commands.bytes};
  return view.commands.external
             ? source.find_data(view.commands.data, view.commands.bytes, commands)
             : Status::kOk;
}

}  // namespace

Status open_npu(LoadedDelegate& delegate, const runtime::DelegateSource& source,
                const thimble_ethos_u*& result) {
  runtime::ByteRegion commands;
  THIMBLE_RETURN_IF_ERROR(find_commands(source, commands));
  npu::DriverPayload header;
  if (!npu::read_driver_payload(commands.data, commands.bytes, header)) return Status::kBadPayload;
  const npu::Config* const config = npu::config_of(header.config);
  if (config == nullptr) return Status::kWrongNpu;
  const auto* const words = reinterpret_cast<const uint32_t*>(commands.data + header.stream_offset);
  size_t bytes = 0;
  if (!sim::workspace_bytes(*config, words, header.stream_words, &bytes).none() ||
      bytes > kWorkspaceMax) {
    return Status::kBadPayload;
  }
  uint8_t* const memory = delegate.file.allocate(sizeof(Simulator));
  uint8_t* const workspace = delegate.file.allocate(bytes != 0 ? bytes : 1);
  if (memory == nullptr || workspace == nullptr) return Status::kArenaTooSmall;
  Simulator& simulator = *new (memory) Simulator;
  simulator.config = config;
  simulator.workspace = workspace;
  simulator.workspace_bytes = bytes;
  simulator.registers.read = read_register;
  simulator.registers.write = write_register;
  simulator.registers.user = &simulator.make_device();
  simulator.registers.polls = 1;  // a started stream has ended when the start returns
  delegate.device = &simulator;
  result = &simulator.registers;
  return Status::kOk;
}

runtime::ethos_u::Bytes fast_memory(LoadedDelegate& delegate) {
  return {delegate.file.allocate(kFastBytes), kFastBytes};
}

void connect(LoadedDelegate& delegate, const runtime::ethos_u::Job& job) {
  sim::Device& device = simulator_of(delegate).make_device();
  const auto add = [&device](const uint8_t* data, uint32_t bytes, bool read_only) {
    // A new device has space for these four memories.
    if (bytes != 0) (void)device.connect({const_cast<uint8_t*>(data), bytes, read_only});
  };
  add(job.stream.data, job.stream.bytes, true);
  add(job.constants.data, job.constants.bytes, true);
  add(job.scratch, job.scratch_bytes, false);
  add(job.fast, job.fast_bytes, false);
}

}  // namespace thimble::executorch
