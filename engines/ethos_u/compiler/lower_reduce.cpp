// SPDX-License-Identifier: Apache-2.0
// Sums, means, minima and maxima over any dimensions, and cumulative sums. Sums are convolutions
// with weights of 1, so that the graph's requantization applies unchanged.

#include <algorithm>

#include "engines/ethos_u/compiler/limits.h"
#include "engines/ethos_u/compiler/lowering.h"

namespace thimble::engine::ethos_u {

using ir::OpKind;

struct Lowering::Reduction {
  NpuOp op;                // operands and window are not set
  bool convolves = false;  // sums: convolution; the depth can be summed
  Requantize per_channel;  // for one channel
};

namespace {

/// Assigns the dimensions that are kept (rows, and the depth if it is kept) and those that are
/// reduced: as kernel, or as depth.
struct ReductionPlan {
  std::vector<Axis> rows, removed;  // steps of y and of x; in `removed` both are of x
  Axis depth = {1, {1, 1}};
  bool summed_depth = false;
  Grid grid;

  [[nodiscard]] int64_t kernel_h() const { return removed.size() == 2 ? removed[0].size : 1; }
  [[nodiscard]] int64_t kernel_w() const { return removed.empty() ? 1 : removed.back().size; }

  [[nodiscard]] Operand operand(const View& view, size_t index, int64_t offset) const {
    const bool input = index == 1;
    Operand result;
    result.tensor = view.tensor;
    result.element = view.element;
    result.zero_point = view.zero_point;
    result.offset = view.offset + offset;
    result.shape = {grid.h.size, grid.w.size, !input && summed_depth ? 1 : depth.size};
    result.stride_h = grid.h.steps[index];
    result.stride_w = grid.w.steps[index];
    if (input && removed.size() == 2) {
      result.shape.h = kernel_h();
      result.stride_h = removed[0].steps[1];
    }
    if (input && !removed.empty()) {
      result.shape.w = kernel_w();
      result.stride_w = removed.back().steps[1];
    }
    if (result.shape.w == 1) result.stride_w = result.shape.c;
    if (result.shape.h == 1) result.stride_h = result.shape.w * result.stride_w;
    return result;
  }
};

ReductionPlan axes_of(const View& y, const View& x, const std::vector<int64_t>& dims, bool in_depth,
                      const Shape4& whole) {
  std::vector<size_t> kept, reduced;
  for (size_t i = 0; i < x.rank(); ++i) {
    const bool removed = std::find(dims.begin(), dims.end(), static_cast<int64_t>(i)) != dims.end();
    (removed ? reduced : kept).push_back(i);
  }
  const View* both[] = {&y, &x};
  const View* from[] = {&x, &x};
  ReductionPlan plan;
  plan.rows = common_axes(both, kept);
  plan.removed = common_axes(from, reduced);
  std::vector<Axis>&rows = plan.rows, &removed = plan.removed;
  if (in_depth && !removed.empty() && removed.back().steps[1] == 1) {
    plan.depth = removed.back();
    removed.pop_back();
  } else if (!in_depth && !rows.empty() && rows.back().steps[0] == 1 && rows.back().steps[1] == 1) {
    plan.depth = rows.back();
    rows.pop_back();
  }
  // Splits one dimension into rows and columns as in the image's tensor.
  if (removed.size() == 1 && removed[0].size == whole.h * whole.w && whole.h > 1 && whole.w > 1) {
    const Axis inner = {whole.w, removed[0].steps};
    removed[0].size = whole.h;
    for (int64_t& step : removed[0].steps) step *= whole.w;
    removed.push_back(inner);
  }
  return plan;
}

/// Maps the kept rows to the axes of height and width that the kernel does not use.
Status place_rows(ReductionPlan* plan, Shape4 wanted) {
  if (plan->removed.empty()) {
    THIMBLE_TRY(plan->grid, arrange(plan->rows, wanted, 2));
  } else {
    const Axis unit = {1, {0, 0}};
    std::vector<Axis> rows = plan->rows;
    plan->grid = {unit, unit, {}};
    if (plan->removed.size() == 1 && !rows.empty()) {
      const auto largest = std::max_element(
          rows.begin(), rows.end(), [](const Axis& a, const Axis& b) { return a.size < b.size; });
      if (largest->size <= kSizeMax) {
        plan->grid.h = *largest;
        rows.erase(largest);
      }
    }
    plan->grid.loops = rows;
  }
  int64_t count = 1;
  for (const Axis& axis : plan->grid.loops) count *= axis.size;
  return count > kCopiesMax
             ? unsupported("a reduction repeated {} times, the limit is {}", count, kCopiesMax)
             : ok();
}

}  // namespace

Status Lowering::reduce(const View& y, const View& x, const std::vector<int64_t>& dims,
                        bool in_depth, const Reduction& reduction) {
  const auto shape = [&](const View& view) {
    return program_.tensors[static_cast<size_t>(view.tensor)].shape;
  };
  ReductionPlan plan = axes_of(y, x, dims, in_depth, shape(x));
  plan.summed_depth = in_depth && reduction.convolves;
  const int64_t h_max = reduction.convolves ? kKernelHeightMax : kPoolHeightMax;
  const int64_t area_max = reduction.convolves ? kKernelAreaMax : kPoolAreaMax;
  // A kernel may be wider than high.
  if (plan.kernel_h() > h_max) std::swap(plan.removed.front(), plan.removed.back());
  const int64_t kernel_h = plan.kernel_h(), kernel_w = plan.kernel_w();
  if (plan.removed.size() > 2 || kernel_h > h_max || kernel_h * kernel_w > area_max ||
      plan.depth.size > kSizeMax) {
    return unsupported(
        "a reduction over {} x {} x {} elements, the limits are {} rows and {} "
        "elements at a time",
        kernel_h, kernel_w, plan.depth.size, h_max, area_max);
  }
  Shape4 wanted = shape(y);
  if (in_depth) wanted = {wanted.h * wanted.w, wanted.c, 1};
  THIMBLE_CHECK(place_rows(&plan, wanted));
  const int64_t out = plan.summed_depth ? 1 : plan.depth.size;
  const int64_t in = plan.summed_depth ? plan.depth.size : 1;
  return for_each_loop(plan.grid.loops, 2, [&](const std::vector<int64_t>& offsets) {
    NpuOp op = reduction.op;
    op.ofm = plan.operand(y, 0, offsets[0]);
    op.ifm = plan.operand(x, 1, offsets[1]);
    op.window.kernel_h = kernel_h;
    op.window.kernel_w = kernel_w;
    if (reduction.convolves) {
      op.kind = plan.summed_depth ? NpuOpKind::kConv : NpuOpKind::kDepthwise;
      Weights ones = {out, kernel_h, kernel_w, in, {}, {}};
      ones.values.assign(static_cast<size_t>(out * kernel_h * kernel_w * in), 1);
      ones.bias.assign(static_cast<size_t>(out), 0);
      op.weights = std::move(ones);
      op.requantize = reduction.per_channel;
      op.requantize.multiplier.assign(static_cast<size_t>(out),
                                      reduction.per_channel.multiplier[0]);
      op.requantize.shift.assign(static_cast<size_t>(out), reduction.per_channel.shift[0]);
    }
    push(std::move(op));
    return ok();
  });
}

namespace {

/// Returns the result with a dimension of size 1 for each reduced dimension.
View kept_dims(const View& y, const ir::Op& op, size_t rank) {
  if (y.rank() == rank) return y;
  const auto& dims = op.get(ir::attr::dims);
  View result = y;
  result.shape.assign(rank, 1);
  result.steps.assign(rank, 0);
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) {
    if (std::find(dims.begin(), dims.end(), static_cast<int64_t>(i)) != dims.end()) continue;
    result.shape[i] = y.shape[next];
    result.steps[i] = y.steps[next++];
  }
  return result;
}

/// Returns an order with the kept dimensions outside and the reduced dimensions inside.
ir::DimOrder gathered_order(size_t rank, const std::vector<int64_t>& dims) {
  ir::DimOrder order, inner;
  for (size_t i = 0; i < rank; ++i) {
    const bool removed = std::find(dims.begin(), dims.end(), static_cast<int64_t>(i)) != dims.end();
    (removed ? inner : order).push_back(static_cast<uint8_t>(i));
  }
  order.insert(order.end(), inner.begin(), inner.end());
  return order;
}

/// Number of axes that the dimensions form in memory, and whether they include x's innermost one.
struct MemoryAxes {
  size_t axes = 0;
  bool inner = false;
};

MemoryAxes memory_axes(const View& x, const std::vector<int64_t>& dims) {
  std::vector<size_t> reduced;
  for (const int64_t dim : dims) reduced.push_back(static_cast<size_t>(dim));
  const View* from[] = {&x};
  const auto axes = common_axes(from, reduced);
  MemoryAxes result = {axes.size(), !axes.empty() && axes.back().steps[0] == 1};
  if (result.inner) --result.axes;
  return result;
}

/// Returns true if x's innermost dimension is also innermost in the result, or is reduced.
bool keeps_innermost(const View& x, const View& result) {
  for (size_t i = 0; i < x.rank(); ++i) {
    if (x.steps[i] == 1 && result.shape[i] > 1 && result.steps[i] != 1) return false;
  }
  return true;
}

}  // namespace

Result<View> Lowering::mean(const ir::Op& op) {
  const bool wide = op.kind == OpKind::qmean16;
  const auto& dims = op.get(ir::attr::dims);
  THIMBLE_TRY(View x, read(op.inputs[0]));
  THIMBLE_TRY(View y, result(op));
  Reduction reduction;
  reduction.op = op_of(NpuOpKind::kConv);
  reduction.op.minimum = static_cast<int32_t>(op.get(ir::attr::min));
  reduction.op.maximum = static_cast<int32_t>(op.get(ir::attr::max));
  reduction.op.wide_accumulator = wide;
  reduction.convolves = true;
  const int64_t mult = op.get(ir::attr::mult), shift = op.get(ir::attr::shift);
  reduction.per_channel = global_scale(mult, shift, wide || op.get(ir::attr::rounding) != 0);
  reduction.per_channel.global = false;
  if (wide) {
    reduction.per_channel.multiplier = {
        static_cast<int32_t>(mult >= 0x7FFF0000 ? 32767 : (mult + 32768) >> 16)};
    reduction.per_channel.shift = {static_cast<int32_t>(15 - shift)};
  }
  const int64_t zero = wide ? 0 : op.get(ir::attr::x_zp);
  int64_t count = 1;
  for (const int64_t dim : dims) count *= x.shape[static_cast<size_t>(dim)];
  if (count > kWeightSumMax) {
    return unsupported("a sum of {} elements, the limit is {}", count, kWeightSumMax);
  }
  const MemoryAxes in_memory = memory_axes(x, dims);
  const bool fits = in_memory.axes <= 2 && count <= kKernelAreaMax;
  bool channels_innermost = false;  // a kept dimension is innermost
  for (size_t i = 0; i < x.rank(); ++i) {
    const bool removed = std::find(dims.begin(), dims.end(), static_cast<int64_t>(i)) != dims.end();
    channels_innermost = channels_innermost || (!removed && x.steps[i] == 1 && x.shape[i] > 1);
  }
  bool in_depth = in_memory.inner;
  const bool deep = in_depth && in_memory.axes == 0;
  if (!deep && !(fits && (in_depth || channels_innermost))) {
    const View dense = new_view(x.element, x.shape, gathered_order(x.rank(), dims));
    THIMBLE_CHECK(copy(dense, x));
    x = dense;
    in_depth = count > 1;
  }
  const View target = kept_dims(y, op, x.rank());
  View made = target;
  if (!in_depth && !keeps_innermost(x, target))
    made = new_view(y.element, target.shape, order_of(x));
  if (wide) {
    made.zero_point = 0;
  } else {
    made.zero_point = static_cast<int32_t>(op.get(ir::attr::y_zp));
  }
  THIMBLE_CHECK(reduce(made, x.with_zero_point(zero), dims, in_depth, reduction));
  if (made.tensor != target.tensor) THIMBLE_CHECK(copy(target, made));
  return y;
}

Status Lowering::largest_along(const View& y, const View& x, const std::vector<int64_t>& dims) {
  Reduction reduction;
  reduction.op = op_of(NpuOpKind::kPool);
  reduction.op.pool = PoolMode::kMax;
  return reduce(y, x, dims, false, reduction);
}

Result<View> Lowering::reduce_extreme(const ir::Op& op) {
  const auto& dims = op.get(ir::attr::dims);
  THIMBLE_TRY(View x, read(op.inputs[0]));
  if (!x.element.is_signed || x.element.bits > 16) {
    return unsupported("its operand is not int8 or int16");
  }
  THIMBLE_TRY(View y, result(op));
  // The minimum is computed as the maximum of -1 - x, which reverses the order.
  const bool smallest = op.kind == OpKind::amin;
  const auto negated = [&](const View& to, const View& from) {
    return with_scalar(ElementwiseMode::kSub, to, from, -1, unit_scale(), true);
  };
  if (smallest) {
    const View around = new_view(x.element, x.shape, order_of(x));
    THIMBLE_CHECK(negated(around, x));
    x = around;
  }
  const MemoryAxes in_memory = memory_axes(x, dims);
  if (in_memory.axes + (in_memory.inner ? 1 : 0) > 2) {
    const View dense = new_view(x.element, x.shape, gathered_order(x.rank(), dims));
    THIMBLE_CHECK(copy(dense, x));
    x = dense;
  }
  const View target = kept_dims(y, op, x.rank());
  View made = target;
  if (smallest || !keeps_innermost(x, target))
    made = new_view(y.element, target.shape, order_of(x));
  THIMBLE_CHECK(largest_along(made, x, dims));
  if (smallest) THIMBLE_CHECK(negated(target, made));
  if (!smallest && made.tensor != target.tensor) THIMBLE_CHECK(copy(target, made));
  return y;
}

/// Uses a convolution whose weights are a triangular matrix of ones.
Result<View> Lowering::cumsum(const ir::Op& op) {
  ConvJob job;
  THIMBLE_TRY(job.x, read(op.inputs[0]));
  THIMBLE_TRY(job.y, result(op, &job.x));
  const View y = job.y;
  job.channel = static_cast<size_t>(op.get(ir::attr::dim));
  const int64_t size = job.x.shape[job.channel];
  job.x.zero_point = static_cast<int32_t>(op.get(ir::attr::x_zp));
  job.y.zero_point = static_cast<int32_t>(op.get(ir::attr::y_zp));
  job.minimum = op.get(ir::attr::min);
  job.maximum = op.get(ir::attr::max);
  job.requantize = global_scale(op.get(ir::attr::mult), op.get(ir::attr::shift),
                                op.get(ir::attr::rounding) != 0);
  job.requantize.global = false;
  job.requantize.multiplier.resize(static_cast<size_t>(size), job.requantize.multiplier[0]);
  job.requantize.shift.resize(static_cast<size_t>(size), job.requantize.shift[0]);
  job.weights = {size, 1, 1, size, {}, std::vector<int64_t>(static_cast<size_t>(size), 0)};
  for (int64_t o = 0; o < size; ++o) {
    for (int64_t i = 0; i < size; ++i) job.weights.values.push_back(i <= o ? 1 : 0);
  }
  THIMBLE_CHECK(emit_conv(std::move(job)));
  return y;
}

}  // namespace thimble::engine::ethos_u
