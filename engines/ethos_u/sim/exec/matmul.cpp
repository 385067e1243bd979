// SPDX-License-Identifier: Apache-2.0
// CONV whose weights are IFM2 (U85). Output channel k of a position is the product of the IFM's
// channels at that position and row k of IFM2. IFM2 is a map with one row of width k.

#include "engines/ethos_u/sim/exec/exec.h"

namespace thimble::ethos_u::sim {
namespace {

/// Computes the sum of products of two rows of channels, with the zero points subtracted.
bool product(const Context& context, Reader& first, Reader& second, uint32_t y, uint32_t x,
             uint32_t k, int64_t* sum) {
  const KernelOperation& operation = context.operation;
  const uint32_t depth = operation.ifm.depth;
  const int64_t zero_a = operation.ifm.zero_point;
  const int64_t zero_b = operation.ifm2.zero_point;
  *sum = 0;
  for (uint32_t c = 0; c < depth; c += kRow) {
    const uint32_t n = depth - c < kRow ? depth - c : kRow;
    int32_t a[kRow], b[kRow];
    if (!first.row(y, x, c, n, a) || !second.row(0, k, c, n, b)) return false;
    for (uint32_t i = 0; i < n; ++i) {
      const int64_t term = (a[i] - zero_a) * (b[i] - zero_b);
      *sum = static_cast<int64_t>(static_cast<uint64_t>(*sum) + static_cast<uint64_t>(term));
    }
  }
  return true;
}

}  // namespace

Fault execute_matmul(const Context& context) {
  const KernelOperation& operation = context.operation;
  const FeatureMap& ofm = operation.ofm;
  const Kernel& kernel = operation.kernel;
  if (kernel.height != 1 || kernel.width != 1 || kernel.stride_x != 1 || kernel.stride_y != 1 ||
      operation.upscale != Upscale::kNone || operation.ifm.bits > 16 || operation.ifm2.bits > 16 ||
      !operation.global_scale || operation.accumulator_input == AccumulatorInput::kIfm2 ||
      (kernel.pad_top | kernel.pad_left | kernel.pad_bottom | kernel.pad_right) != 0) {
    return fault_of(FaultKind::kBadRegister,
                    "a matrix product with an unsupported kernel, scale or type");
  }
  Reader first(operation.ifm, context.memory);
  Reader second(operation.ifm2, context.memory);
  Output output(context.config, operation, context.memory);
  if (!output.ready()) return context.memory.fault();
  Accumulators accumulators(context);
  if (const Fault fault = accumulators.begin(); !fault.none()) return fault;
  for (uint32_t y = 0; y < ofm.height; ++y) {
    for (uint32_t x = 0; x < ofm.width; ++x) {
      for (uint32_t c = 0; c < ofm.depth; c += kRow) {
        const uint32_t n = ofm.depth - c < kRow ? ofm.depth - c : kRow;
        int64_t values[kRow];
        for (uint32_t i = 0; i < n; ++i) {
          if (!product(context, first, second, y, x, c + i, &values[i])) {
            return context.memory.fault();
          }
        }
        if (!accumulators.add_initial(y, x, c, n, values)) return context.memory.fault();
        for (uint32_t i = 0; i < n; ++i) values[i] = wrap(values[i], accumulators.bits());
        if (accumulators.keeps(y, x, c, n, values)) continue;
        if (!output.global_row(y, x, c, n, values)) return context.memory.fault();
      }
    }
  }
  return {};
}

}  // namespace thimble::ethos_u::sim
