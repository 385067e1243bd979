// SPDX-License-Identifier: Apache-2.0
// Elementwise operations on views with any strides, and copies.

#include <algorithm>
#include <cstring>
#include <numeric>

#include "engines/ethos_u/compiler/limits.h"
#include "engines/ethos_u/compiler/lowering.h"

namespace thimble::engine::ethos_u {

Requantize unit_scale() {
  Requantize result;
  result.multiplier = {1};
  result.shift = {0};
  result.rounding = Requantize::Rounding::kNatural;
  result.global = true;
  return result;
}

Requantize global_scale(int64_t mult, int64_t shift, bool single) {
  Requantize result;
  result.multiplier = {static_cast<int32_t>(mult)};
  result.shift = {static_cast<int32_t>(31 - shift)};
  result.rounding = single ? Requantize::Rounding::kNatural : Requantize::Rounding::kDouble;
  result.global = true;
  return result;
}

Operand operand_at(const View& view, int64_t offset) {
  Operand operand;
  operand.tensor = view.tensor;
  operand.element = view.element;
  operand.zero_point = view.zero_point;
  operand.offset = view.offset + offset;
  return operand;
}

Operand image_of(const View& view, int64_t n) {
  Operand operand = operand_at(view, n * view.steps[0]);
  operand.shape = {view.shape[2], view.shape[3], view.shape[1]};
  operand.stride_w = operand.shape.w > 1 ? view.steps[3] : operand.shape.c;
  operand.stride_h = operand.shape.h > 1 ? view.steps[2] : operand.shape.w * operand.stride_w;
  return operand;
}

namespace {

Operand operand_of(const View& view, size_t index, const Block3& block,
                   const std::vector<int64_t>& offsets, bool repeats) {
  const Axis &h = block.rows.h, &w = block.rows.w, &c = block.c;
  const auto size = [&](const Axis& axis) {
    return repeats && axis.steps[index] == 0 ? int64_t{1} : axis.size;
  };
  Operand operand = operand_at(view, offsets[index]);
  operand.shape = {size(h), size(w), size(c)};
  operand.stride_w = operand.shape.w > 1 ? w.steps[index] : operand.shape.c;
  operand.stride_h = operand.shape.h > 1 ? h.steps[index] : operand.shape.w * operand.stride_w;
  return operand;
}

/// Returns true if the view repeats one element along y's innermost dimension; it cannot be an IFM
/// then.
bool repeats_inner(const View& y, const View& a) {
  size_t inner = 0;
  bool found = false;
  for (size_t i = 0; i < y.rank(); ++i) {
    if (y.shape[i] == 1 || (found && y.steps[i] >= y.steps[inner])) continue;
    inner = i;
    found = true;
  }
  return found && a.steps[inner] == 0;
}

}  // namespace

/// Returns the value of a 32-bit constant of one element; nullopt for any other operand.
std::optional<int32_t> Lowering::one_constant(const View& view) const {
  const NpuTensor& tensor = program_.tensors[static_cast<size_t>(view.tensor)];
  if (tensor.role != TensorRole::kConstant || !(view.element == kInt32)) return std::nullopt;
  if (view.zero_point != 0 || tensor.content.size() != sizeof(int32_t)) return std::nullopt;
  int32_t value = 0;
  std::memcpy(&value, tensor.content.data(), sizeof value);
  return value;
}

Status Lowering::each(NpuOp op, const View& y, View a, const View* b) {
  View second;
  if (b != nullptr) {
    second = *b;
    if (repeats_inner(y, a) && !repeats_inner(y, second)) {
      std::swap(a, second);
      std::swap(op.ifm_scale, op.ifm2_scale);
      op.ifm2_first = !op.ifm2_first;
    }
    // The U85 has a scalar of 32 bits. A constant in memory would be read with its latency.
    if (is_u85() && a.tensor != second.tensor) {
      if (one_constant(a) && !repeats_inner(y, second)) {
        std::swap(a, second);
        std::swap(op.ifm_scale, op.ifm2_scale);
        op.ifm2_first = !op.ifm2_first;
      }
      if (!repeats_inner(y, a)) op.scalar = one_constant(second);
      if (op.scalar) b = nullptr;
    }
  }
  std::vector<const View*> views = {&y, &a};
  if (b != nullptr) views.push_back(&second);
  std::vector<size_t> dims(y.rank());
  std::iota(dims.begin(), dims.end(), size_t{0});
  const Shape4 wanted = program_.tensors[static_cast<size_t>(y.tensor)].shape;
  THIMBLE_TRY(const Block3 block, arrange_depth(common_axes(views, dims), wanted, views.size()));
  return for_each_loop(block.rows.loops, views.size(), [&](const std::vector<int64_t>& offsets) {
    NpuOp one = op;
    one.ofm = operand_of(y, 0, block, offsets, false);
    one.ifm = operand_of(a, 1, block, offsets, false);
    if (b != nullptr) one.ifm2 = operand_of(second, 2, block, offsets, true);
    push(std::move(one));
    return ok();
  });
}

namespace {

/// Innermost dimensions of a copy that are dense in both memories but in different order.
struct Channels {
  std::vector<Axis> axes, rows;
  int64_t size = 1;
};

std::optional<Channels> permuted_channels(const View& to, const View& from) {
  std::vector<size_t> dims(to.rank());
  std::iota(dims.begin(), dims.end(), size_t{0});
  const View* views[] = {&to, &from};
  Channels result;
  result.rows = common_axes(views, dims);
  const auto dense_in_source = [&] {
    std::vector<Axis> sorted = result.axes;
    std::sort(sorted.begin(), sorted.end(),
              [](const Axis& a, const Axis& b) { return a.steps[1] < b.steps[1]; });
    int64_t expected = 1;
    for (const Axis& axis : sorted) {
      if (axis.steps[1] != expected) return false;
      expected *= axis.size;
    }
    return true;
  };
  while (!result.rows.empty() && result.rows.back().steps[0] == result.size) {
    result.axes.push_back(result.rows.back());
    result.rows.pop_back();
    result.size *= result.axes.back().size;
    if (result.size > kPermutedChannelsMax) return std::nullopt;
    if (dense_in_source()) {
      const bool worth = result.axes.size() > 1 && to.elements() >= 16 * result.size;
      return worth ? std::optional<Channels>(result) : std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

/// Copies with permuted channels. A pooling copy of one channel at a time would use at most an
/// eighth of the hardware. A convolution with one weight of 1 per channel copies all of them.
Status Lowering::copy_channels(const View& to, const View& from, const std::vector<Axis>& axes,
                               const std::vector<Axis>& rows) {
  int64_t size = 1;
  for (const Axis& axis : axes) size *= axis.size;
  ConvJob job;
  job.wide = to.element.bits == 16;
  job.x = from.with_zero_point(0);
  job.y = to.with_zero_point(0);
  for (View* view : {&job.y, &job.x}) {
    const size_t index = view == &job.y ? 0 : 1;
    view->shape.clear();
    view->steps.clear();
    for (const Axis& axis : rows) {
      view->shape.push_back(axis.size);
      view->steps.push_back(axis.steps[index]);
    }
    view->shape.push_back(size);
    view->steps.push_back(1);
  }
  job.channel = rows.size();
  const auto count = static_cast<size_t>(size);
  job.weights = {
      size, 1, 1, size, std::vector<int16_t>(count * count, 0), std::vector<int64_t>(count, 0)};
  THIMBLE_CHECK(for_each_loop(axes, 2, [&](const std::vector<int64_t>& at) {
    job.weights.values[static_cast<size_t>(at[0] * size + at[1])] = 1;
    return ok();
  }));
  const int32_t bits = job.wide ? 14 : 30;
  job.requantize.multiplier.assign(count, 1 << bits);
  job.requantize.shift.assign(count, bits);
  job.requantize.rounding = Requantize::Rounding::kNatural;
  job.minimum = job.wide ? INT16_MIN : INT8_MIN;
  job.maximum = job.wide ? INT16_MAX : INT8_MAX;
  return pointwise(job);
}

Status Lowering::copy(const View& to, const View& from) {
  if (to.element.bits <= 16 && to.element.is_signed) {
    if (const auto channels = permuted_channels(to, from)) {
      return copy_channels(to, from, channels->axes, channels->rows);
    }
  }
  THIMBLE_TRY(const bool transposed, copy_transposed(to, from));
  if (transposed) return ok();
  NpuOp op = op_of(NpuOpKind::kPool);
  op.pool = PoolMode::kAverage;
  if (to.element.bits == 32) return each(op, bytes_view(to), bytes_view(from));
  return each(op, to.with_zero_point(0), from.with_zero_point(0));
}

Status Lowering::fill(const View& to, int64_t code) {
  if (to.element.bits == 32) return unsupported("a fill of 32-bit elements");
  // The source is one constant row of the innermost dimension, repeated along the others.
  int64_t inner = 1;
  size_t inner_dim = 0;
  for (size_t i = 0; i < to.rank(); ++i) {
    if (to.steps[i] == 1 && to.shape[i] > inner) inner = to.shape[i], inner_dim = i;
  }
  std::vector<std::byte> content;
  for (int64_t i = 0; i < inner; ++i) {
    for (int byte = 0; byte < to.element.bits / 8; ++byte) {
      content.push_back(static_cast<std::byte>(code >> (8 * byte) & 0xFF));
    }
  }
  View row = constant(to.element, {inner}, std::move(content));
  View from = to;
  from.tensor = row.tensor;
  from.offset = 0;
  from.zero_point = 0;
  from.steps.assign(to.rank(), 0);
  if (inner > 1) from.steps[inner_dim] = 1;
  return copy(to, from);
}

ir::DimOrder Lowering::inner_order(const View& view, size_t dim) {
  ir::DimOrder order;
  for (const uint8_t d : order_of(view)) {
    if (d != dim) order.push_back(d);
  }
  order.push_back(static_cast<uint8_t>(dim));
  return order;
}

Result<View> Lowering::with_inner(const View& view, size_t dim) {
  if (view.steps[dim] == 1 || view.shape[dim] == 1) return view;
  View inner = new_view(view.element, view.shape, inner_order(view, dim));
  THIMBLE_CHECK(copy(inner, view));
  inner.zero_point = view.zero_point;
  return inner;
}

Status Lowering::table_each(const View& y, const View& x, Table table, Element clip) {
  NpuOp op = op_of(NpuOpKind::kPool);
  op.pool = PoolMode::kAverage;
  op.minimum = clip.bits == 8 ? INT8_MIN : INT16_MIN;
  op.maximum = clip.bits == 8 ? INT8_MAX : INT16_MAX;
  op.table = std::move(table);
  return each(op, y, x.with_zero_point(0));
}

Status Lowering::unary(ElementwiseMode mode, const View& y, const View& a) {
  NpuOp op = op_of(NpuOpKind::kElementwise);
  op.elementwise = mode;
  return each(op, y, a);
}

Status Lowering::binary(ElementwiseMode mode, const View& y, const View& a, const View& b,
                        Requantize requantize) {
  NpuOp op = op_of(NpuOpKind::kElementwise);
  op.elementwise = mode;
  op.requantize = std::move(requantize);
  const View second = broadcast_view(b, y.shape);
  return each(op, y, broadcast_view(a, y.shape), &second);
}

Status Lowering::with_scalar(ElementwiseMode mode, const View& y, const View& a, int32_t scalar,
                             Requantize requantize, bool scalar_first) {
  NpuOp op = op_of(NpuOpKind::kElementwise);
  op.elementwise = mode;
  op.requantize = std::move(requantize);
  op.scalar = scalar;
  op.ifm2_first = scalar_first;
  return each(op, y, a);
}

/// The product of two 32-bit operands is only shifted by the hardware. A multiplier is therefore
/// passed as the second operand.
Status Lowering::requantize_each(const View& y, const View& x, Requantize requantize, int64_t low,
                                 int64_t high) {
  NpuOp op = op_of(NpuOpKind::kElementwise);
  op.elementwise = ElementwiseMode::kMul;
  op.minimum = static_cast<int32_t>(low);
  op.maximum = static_cast<int32_t>(high);
  op.requantize = std::move(requantize);
  int32_t& multiplier = op.requantize.multiplier[0];
  if (x.element.bits < 32 || multiplier == 1) {
    op.scalar = 1;
    return each(op, y, x);
  }
  const View factor = broadcast_view(constant_i32(multiplier), y.shape);
  multiplier = 1;
  return each(op, y, x, &factor);
}

}  // namespace thimble::engine::ethos_u
