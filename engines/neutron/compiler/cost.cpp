// SPDX-License-Identifier: Apache-2.0
#include "engines/neutron/compiler/cost.h"

#include <algorithm>

namespace thimble::engine::neutron {
namespace {

int64_t ceil_div(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit;
}

/// Returns the bytes of bus traffic for a view. If adjacent elements are not contiguous in memory,
/// each element costs one bus beat.
int64_t traffic(const BufferView& view, int64_t bus_bytes) {
  const int64_t last = view.strides.empty() ? 1 : view.strides.back();
  const bool together = view.dims.empty() || view.dims.back() == 1 || last == 1;
  int64_t elements = 1;
  for (size_t i = 0; i < view.dims.size(); ++i) {
    // A broadcast dimension is read once.
    if (view.strides[i] != 0 || view.dims[i] == 1) elements *= view.dims[i];
  }
  return together || last == 0 ? elements : elements * bus_bytes;
}

int64_t compute(const KernelOp& kernel, const Costs& costs) {
  const DotUnits& units = costs.units;
  const std::vector<int64_t>& y = kernel.output.dims;
  const int64_t taps = kernel.kernel_h * kernel.kernel_w;
  switch (kernel.kernel) {
    case Kernel::kConv2DStandard:
    case Kernel::kConv2DPointwise:
      return y[0] * y[1] * y[2] * ceil_div(y[3], units.pipelines) * taps *
             ceil_div(kernel.operands[0].dims[3], units.macs_per_pipeline);
    case Kernel::kConv2DDepthwise:
      return y[0] * y[1] * y[2] * ceil_div(y[3], units.pipelines) * taps;
    case Kernel::kTransposeConv2D: {
      const std::vector<int64_t>& x = kernel.operands[0].dims;
      return x[0] * x[1] * x[2] * ceil_div(y[3], units.pipelines) * taps *
             ceil_div(x[3], units.macs_per_pipeline);
    }
    case Kernel::kFullyConnected:
      return y[0] * ceil_div(y[1], units.pipelines) *
             ceil_div(kernel.operands[0].dims[1], units.macs_per_pipeline);
    case Kernel::kBatchMatMul:
      return y[0] * y[1] * ceil_div(y[2], units.pipelines) *
             ceil_div(kernel.operands[0].dims[2], units.macs_per_pipeline);
    case Kernel::kMaxPool:
    case Kernel::kAvgPool:
      return ceil_div(kernel.output.elements(), units.pipelines) * taps;
    case Kernel::kSoftmax:
      return costs.softmax_cycles * kernel.output.elements();
    case Kernel::kResizeBilinear:
      return ceil_div(4 * kernel.output.elements(), units.pipelines);
    default:
      return 0;
  }
}

}  // namespace

int64_t cycles_of(const KernelOp& kernel, const Costs& costs) {
  int64_t bytes = traffic(kernel.output, costs.bus_bytes) + kernel.constant_bytes();
  for (const BufferView& operand : kernel.operands) bytes += traffic(operand, costs.bus_bytes);
  if (kernel.padded) bytes += kernel.padded->elements();
  const int64_t moved = ceil_div(bytes, costs.bus_bytes);
  return costs.kernel_cycles + std::max(moved, compute(kernel, costs));
}

}  // namespace thimble::engine::neutron
