#include "engines/neutron/compiler/cost.h"

#include <algorithm>

namespace thimble::engine::neutron {
namespace {

int64_t parts(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit;
}

/// Returns the bytes of bus traffic for a view. If adjacent elements are not contiguous in memory,
/// each element costs one bus beat.
int64_t traffic(const View& view, int64_t bus_bytes) {
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
  const Machine& machine = costs.machine;
  const std::vector<int64_t>& y = kernel.output.dims;
  const int64_t taps = kernel.kernel_h * kernel.kernel_w;
  switch (kernel.kernel) {
    case Kernel::kConv2DStandard:
    case Kernel::kConv2DPointwise:
      return y[0] * y[1] * y[2] * parts(y[3], machine.pipelines) * taps *
             parts(kernel.operands[0].dims[3], machine.macs);
    case Kernel::kConv2DDepthwise:
      return y[0] * y[1] * y[2] * parts(y[3], machine.pipelines) * taps;
    case Kernel::kTransposeConv2D: {
      const std::vector<int64_t>& x = kernel.operands[0].dims;
      return x[0] * x[1] * x[2] * parts(y[3], machine.pipelines) * taps * parts(x[3], machine.macs);
    }
    case Kernel::kFullyConnected:
      return y[0] * parts(y[1], machine.pipelines) *
             parts(kernel.operands[0].dims[1], machine.macs);
    case Kernel::kBatchMatMul:
      return y[0] * y[1] * parts(y[2], machine.pipelines) *
             parts(kernel.operands[0].dims[2], machine.macs);
    case Kernel::kMaxPool:
    case Kernel::kAvgPool:
      return parts(kernel.output.elements(), machine.pipelines) * taps;
    case Kernel::kSoftmax:
      return costs.softmax_cycles * kernel.output.elements();
    case Kernel::kResizeBilinear:
      return parts(4 * kernel.output.elements(), machine.pipelines);
    default:
      return 0;
  }
}

}  // namespace

int64_t cycles_of(const KernelOp& kernel, const Costs& costs) {
  int64_t bytes = traffic(kernel.output, costs.bus_bytes) + kernel.constant_bytes();
  for (const View& operand : kernel.operands) bytes += traffic(operand, costs.bus_bytes);
  if (kernel.outside) bytes += kernel.outside->elements();
  const int64_t moved = parts(bytes, costs.bus_bytes);
  return costs.kernel_cycles + std::max(moved, compute(kernel, costs));
}

int64_t bound_of(int64_t macs, const Machine& machine) {
  return parts(macs, machine.pipelines * machine.macs);
}

int64_t KernelOp::constant_bytes() const {
  const size_t words = bias.size() + multipliers.size() + shifts.size() + data.size();
  return static_cast<int64_t>(weights.size() + table.size() + 4 * words);
}

}  // namespace thimble::engine::neutron
