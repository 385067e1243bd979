// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/sim/exec/exec.h"

namespace thimble::ethos_u::sim {

Grid grid_of(const KernelOperation& operation) {
  const Kernel& kernel = operation.kernel;
  const FeatureMap& ofm = operation.ofm;
  return {int64_t{ofm.height - 1} * kernel.stride_y +
              int64_t{kernel.height - 1} * kernel.dilation_y + 1 -
              int64_t{kernel.pad_top + kernel.pad_bottom},
          int64_t{ofm.width - 1} * kernel.stride_x + int64_t{kernel.width - 1} * kernel.dilation_x +
              1 - int64_t{kernel.pad_left + kernel.pad_right}};
}

Fault streams_of(Memory& memory, const Range* ranges, uint32_t count, Bytes* streams) {
  for (uint32_t i = 0; i < count; ++i) {
    if (ranges[i].length == 0) continue;
    streams[i].data = memory.read(ranges[i].region, ranges[i].address, ranges[i].length);
    if (streams[i].data == nullptr) return memory.fault();
    streams[i].size = ranges[i].length;
  }
  return {};
}

Accumulators::Accumulators(const Context& context)
    : context_(context), second_(context.operation.ifm2, context.memory) {
  const uint8_t format = context.operation.accumulator;
  if (format == static_cast<uint8_t>(Accumulator::kI40)) {
    bits_ = context.config.generation == Generation::kU85 ? 48 : 40;
  }
}

Fault Accumulators::begin() {
  const KernelOperation& operation = context_.operation;
  Workspace& workspace = context_.workspace;
  const uint64_t count = uint64_t{operation.ofm.height} * operation.ofm.width * operation.ofm.depth;
  if (operation.accumulator_input == AccumulatorInput::kKeep &&
      (workspace.accumulators == nullptr || workspace.accumulator_count != count)) {
    return fault_of(FaultKind::kBadRegister, "accumulators that no earlier operation kept");
  }
  if (!operation.accumulator_output && workspace.accumulators == nullptr)
    return workspace_too_small();
  return {};
}

bool Accumulators::add_initial(uint32_t y, uint32_t x, uint32_t c, uint32_t n, int64_t* values) {
  const KernelOperation& operation = context_.operation;
  if (operation.accumulator_input == AccumulatorInput::kReset) return true;
  if (operation.accumulator_input == AccumulatorInput::kKeep) {
    const uint64_t first = (uint64_t{y} * operation.ofm.width + x) * operation.ofm.depth + c;
    for (uint32_t i = 0; i < n; ++i) values[i] += context_.workspace.accumulators[first + i];
    return true;
  }
  int64_t initial[kRow];
  if (!second_.row64(y, x, c, n, initial)) return false;
  for (uint32_t i = 0; i < n; ++i) {
    values[i] =
        static_cast<int64_t>(static_cast<uint64_t>(values[i]) + static_cast<uint64_t>(initial[i]) -
                             static_cast<uint64_t>(int64_t{operation.ifm2.zero_point}));
  }
  return true;
}

bool Accumulators::keeps(uint32_t y, uint32_t x, uint32_t c, uint32_t n, const int64_t* values) {
  const KernelOperation& operation = context_.operation;
  if (operation.accumulator_output) return false;
  const uint64_t first = (uint64_t{y} * operation.ofm.width + x) * operation.ofm.depth + c;
  for (uint32_t i = 0; i < n; ++i) context_.workspace.accumulators[first + i] = values[i];
  return true;
}

}  // namespace thimble::ethos_u::sim
