// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/sim/execute.h"

#include "engines/ethos_u/sim/exec/exec.h"

namespace thimble::ethos_u::sim {
namespace {

constexpr uint64_t kMost = SIZE_MAX / 4;

uint64_t elements_of(const FeatureMap& map) {
  const uint64_t plane = uint64_t{map.height} * map.width;
  return plane > kMost / map.depth ? kMost : plane * map.depth;
}

bool is_conv(const KernelOperation& operation) {
  return operation.code == Operation::DEPTHWISE ||
         (operation.code == Operation::CONV && operation.mode == 0);
}

/// Allocates bytes at the workspace's end that outlive the operation.
void* keep(Workspace& workspace, uint64_t count, uint64_t element) {
  const size_t bytes = scratch_bytes(count, element);
  if (workspace.kept > workspace.bytes || bytes > workspace.bytes - workspace.kept) return nullptr;
  const size_t end = workspace.bytes - workspace.kept - bytes;
  const size_t skew = reinterpret_cast<uintptr_t>(workspace.data + end) % 16;
  if (skew > end) return nullptr;
  workspace.kept += bytes + skew;
  return workspace.data + end - skew;
}

/// Allocates what outlives the operation: chaining buffers and kept accumulators. First frees what
/// no later operation can read.
Fault prepare(const KernelOperation& operation, Memory& memory, Workspace& workspace) {
  const bool keeps = !operation.accumulator_output;
  if (!continues_chain(operation)) {
    workspace.kept = 0;
    workspace.accumulators = nullptr;
    workspace.accumulator_count = 0;
    for (ChainSlot& slot : memory.chain) slot = {};
  }
  if (operation.ofm.storage == Storage::kChained) {
    const FeatureMap& ofm = operation.ofm;
    ChainSlot& slot = memory.chain[ofm.region % kChainSlots];
    // One slot may be read and written by the same operation, one position at a time.
    if (slot.data == nullptr || slot.height != ofm.height || slot.width != ofm.width ||
        slot.depth != ofm.depth) {
      slot = {static_cast<int32_t*>(keep(workspace, elements_of(ofm), 4)), ofm.height, ofm.width,
              ofm.depth};
      if (slot.data == nullptr) return workspace_too_small();
    }
  }
  const uint64_t count = elements_of(operation.ofm);
  if (keeps && (workspace.accumulators == nullptr || workspace.accumulator_count != count)) {
    workspace.accumulators = static_cast<int64_t*>(keep(workspace, count, 8));
    if (workspace.accumulators == nullptr) return workspace_too_small();
    workspace.accumulator_count = count;
  }
  return {};
}

/// On parts with 16 banks, accumulators overwrite the LUTs.
bool overwrites_luts(const Config& config, const KernelOperation& operation) {
  return config.generation != Generation::kU85 && config.banks == 16 && operation.activation < 16;
}

}  // namespace

bool continues_chain(const KernelOperation& operation) {
  return operation.ifm.storage == Storage::kChained ||
         (operation.has_ifm2 && operation.ifm2.storage == Storage::kChained) ||
         operation.accumulator_input == AccumulatorInput::kKeep;
}

Fault execute(const Config& config, const KernelOperation& operation, Memory& memory,
              Workspace& workspace) {
  memory.clear_fault();
  if (const Fault fault = prepare(operation, memory, workspace); !fault.none()) return fault;
  const Context context = {config, operation, memory, workspace};
  if (overwrites_luts(config, operation)) memory.invalidate_tables();
  switch (operation.code) {
    case Operation::CONV:
      return operation.mode == 0 ? execute_conv(context) : execute_matmul(context);
    case Operation::DEPTHWISE:
      return execute_depthwise(context);
    case Operation::POOL:
      return execute_pool(context);
    case Operation::ELEMENTWISE:
      return execute_elementwise(context);
    case Operation::RESIZE:
      return execute_resize(context);
    default:
      return fault_of(FaultKind::kUnknownCommand, "an operation that is not a kernel");
  }
}

size_t workspace_of(const Config& config, const KernelOperation& operation, size_t* keeps) {
  (void)config;
  uint64_t kept = 0;
  if (operation.ofm.storage == Storage::kChained) {
    kept += scratch_bytes(elements_of(operation.ofm), 4) + 16;
  }
  if (!operation.accumulator_output) kept += scratch_bytes(elements_of(operation.ofm), 8) + 16;
  *keeps = static_cast<size_t>(kept > kMost ? kMost : kept);
  return is_conv(operation) ? conv_scratch(operation) + 16 : 0;
}

namespace {

uint64_t times(uint64_t a, uint64_t b) {
  return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

}  // namespace

uint64_t cost_of(const KernelOperation& operation) {
  const FeatureMap& ofm = operation.ofm;
  const uint64_t results = times(times(ofm.height, ofm.width), ofm.depth);
  if (operation.code == Operation::ELEMENTWISE || operation.code == Operation::RESIZE) {
    return times(results, 4);
  }
  const bool all_channels = operation.code == Operation::CONV ||
                            (operation.code == Operation::POOL &&
                             operation.mode == static_cast<uint16_t>(PoolMode::kReduceSum));
  const uint64_t taps = uint64_t{operation.kernel.height} * operation.kernel.width;
  return times(times(results, taps), all_channels ? operation.ifm.depth : 1);
}

uint64_t cost_of(const DmaOperation& operation) {
  return times(times(operation.length, operation.size0), operation.size1);
}

}  // namespace thimble::ethos_u::sim
