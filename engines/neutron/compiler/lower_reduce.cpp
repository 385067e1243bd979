// SPDX-License-Identifier: Apache-2.0
// Lowers reductions, pools and softmax.

#include <algorithm>

#include "engines/neutron/compiler/lowering.h"

namespace thimble::engine::neutron {

using ir::Op;
using ir::OpKind;

namespace {

Kernel kernel_of(const ir::Graph& graph, const Op& op) {
  if (op.kind == OpKind::amax) return Kernel::kReduceMax;
  if (op.kind == OpKind::amin) return Kernel::kReduceMin;
  const bool image = graph.type(op.inputs[0]).shape.size() == 4;
  const bool global = image && op.get(ir::attr::dims) == std::vector<int64_t>{2, 3};
  return global ? Kernel::kGlobalAvgPool : Kernel::kReduceMean;
}

}  // namespace

/// The view's dimensions are the kept ones, in the result's order, followed by the reduced ones.
Status Lowering::reduction(const Op& op) {
  const auto& dims = op.get(ir::attr::dims);
  const Location x = location(op.inputs[0]);
  ir::Shape kept_shape = shape(op.inputs[0]);
  std::vector<size_t> kept, reduced;
  for (size_t i = 0; i < kept_shape.size(); ++i) {
    const bool gone = std::ranges::find(dims, static_cast<int64_t>(i)) != dims.end();
    (gone ? reduced : kept).push_back(i);
    if (gone) kept_shape[i] = 1;
  }
  const auto with_ones = [&](const Location& to) { return reshaped(to, kept_shape); };
  const auto walk = [&](const Location& from, const Location& to) {
    return common_loops(std::vector<const Location*>{&from, &to}, kept);
  };
  const auto fits = [&](const Location& to) {
    const auto ones = with_ones(to);
    return ones && walk(x, *ones).has_value();
  };
  const Location y = target(op.output, {x}, false, fits);
  if (!fits(y)) {
    return unsupported("{}: its memory layouts have no common loops", ir::list_text(x.shape()));
  }
  const Location ones = *with_ones(y);
  std::vector<Loop> loops = *walk(x, ones);
  std::vector<Loop> inside = *common_loops(std::vector<const Location*>{&x}, reduced);
  KernelOp kernel;
  kernel.kernel = kernel_of(graph_, op);
  set_table(&kernel);
  // A global pool of an image always reduces two dimensions, even if their size is 1.
  if (kernel.kernel == Kernel::kGlobalAvgPool && is_simple(x)) {
    inside = {{shape(op.inputs[0])[2], {x.single(2)->stride}},
              {shape(op.inputs[0])[3], {x.single(3)->stride}}};
  } else if (kernel.kernel == Kernel::kGlobalAvgPool) {
    kernel.kernel = Kernel::kReduceMean;
  }
  if (inside.empty()) inside.push_back({1, {0}});
  if (loops.size() + inside.size() > container::kRankMax) {
    return unsupported("{} over {} dimensions", ir::list_text(x.shape()), dims.size());
  }
  kernel.reduced = static_cast<int64_t>(inside.size());
  kernel.output =
      loops.empty() ? BufferView{y.buffer, y.offset, {1}, {0}} : loop_view(ones, loops, 1);
  BufferView operand = loop_view(x, loops, 0);
  const BufferView rest = loop_view(x, inside, 0);
  operand.dims.insert(operand.dims.end(), rest.dims.begin(), rest.dims.end());
  operand.strides.insert(operand.strides.end(), rest.strides.begin(), rest.strides.end());
  kernel.operands = {operand};
  if (op.kind == OpKind::qmean) {
    kernel.a_zero_point = op.get(ir::attr::x_zp);
    set_requantization(op, &kernel);
  }
  return append_result(op, std::move(kernel), y, Kernel::kTranspose);
}

Status Lowering::window(const Op& op, KernelOp kernel) {
  THIMBLE_TRY(const Location x, image(op.inputs[0]));
  const Location y = target(op.output, {x}, false, has_contiguous_channels);
  kernel.operands = {image_view(x)};
  kernel.output = image_view(y);
  return append_result(op, std::move(kernel), y, Kernel::kTranspose);
}

Status Lowering::pool(const Op& op) {
  KernelOp kernel;
  const bool average = op.kind == OpKind::qavg_pool2d;
  kernel.kernel = average ? Kernel::kAvgPool : Kernel::kMaxPool;
  set_table(&kernel);
  const auto &size = op.get(ir::attr::kernel), &stride = op.get(ir::attr::stride);
  kernel.kernel_h = size[0];
  kernel.kernel_w = size[1];
  kernel.stride_h = stride[0];
  kernel.stride_w = stride[1];
  kernel.pad_top = op.get(ir::attr::padding)[0];
  kernel.pad_left = op.get(ir::attr::padding)[1];
  if (average) {
    kernel.min = op.get(ir::attr::min);
    kernel.max = op.get(ir::attr::max);
  } else {
    kernel.dilation_h = op.get(ir::attr::dilation)[0];
    kernel.dilation_w = op.get(ir::attr::dilation)[1];
  }
  return window(op, std::move(kernel));
}

Status Lowering::adaptive_pool(const Op& op) {
  const ir::Shape& in = shape(op.inputs[0]);
  const ir::Shape& out = shape(op.output);
  if (in[2] % out[2] != 0 || in[3] % out[3] != 0) {
    return unsupported("{}x{} from {}x{}; use sizes that divide", out[2], out[3], in[2], in[3]);
  }
  KernelOp kernel;
  kernel.kernel = Kernel::kAvgPool;
  kernel.kernel_h = kernel.stride_h = in[2] / out[2];
  kernel.kernel_w = kernel.stride_w = in[3] / out[3];
  kernel.min = op.get(ir::attr::min);
  kernel.max = op.get(ir::attr::max);
  return window(op, std::move(kernel));
}

Status Lowering::softmax(const Op& op) {
  const auto dim = static_cast<size_t>(op.get(ir::attr::dim));
  Location x = location(op.inputs[0]);
  if (!x.single(dim)) {
    THIMBLE_TRY(x, simple(op.inputs[0]));
  }
  std::vector<size_t> others = all_dims(x);
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(dim));
  const auto walk = [&](const Location& to) {
    auto loops = common_loops(std::vector<const Location*>{&x, &to}, others);
    if (loops && loops->size() + 1 > container::kRankMax) loops.reset();
    return loops;
  };
  const auto fits = [&](const Location& to) { return to.single(dim) && walk(to); };
  const Location y = target(op.output, {x}, true, fits);
  if (!fits(y)) {
    return unsupported(
        "{}: its memory layouts have no common loops, or more than 6, the most that a kernel has",
        ir::list_text(x.shape()));
  }
  std::vector<Loop> loops = *walk(y);
  loops.push_back({shape(op.output)[dim], {x.single(dim)->stride, y.single(dim)->stride}});
  KernelOp kernel;
  kernel.kernel = Kernel::kSoftmax;
  kernel.multiplier[2] = op.get(ir::attr::mult);
  kernel.shift[2] = op.get(ir::attr::shift);
  kernel.fill = op.get(ir::attr::diff_min);
  kernel.operands = {loop_view(x, loops, 0)};
  kernel.output = loop_view(y, loops, 1);
  return append_result(op, std::move(kernel), y, Kernel::kTranspose);
}

}  // namespace thimble::engine::neutron
