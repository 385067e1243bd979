// SPDX-License-Identifier: Apache-2.0
// Lowers elementwise sums and products, means, pools and functions.

#include <algorithm>

#include "engines/axon/compiler/lowering.h"

namespace thimble::engine::axon {

using ir::Op;
using ir::OpKind;

namespace {

bool repeats(const Dims& from, const Dims& to) {
  const bool plane = from.h == to.h || from.h == 1;
  return from.c == to.c && plane && (from.w == to.w || from.w == 1);
}

std::string dims_text(const Dims& d) {
  return fmt::format("[{},{},{}]", d.c, d.h, d.w);
}

}  // namespace

Status Lowering::pair(const Op& op) {
  THIMBLE_CHECK(check_bounds(op));
  THIMBLE_TRY(BufferView a, raw(op.inputs[0]));
  THIMBLE_TRY(BufferView b, raw(op.inputs[1]));
  const bool same_shape = graph_.type(op.inputs[0]).shape == graph_.type(op.inputs[1]).shape;
  if (!same_shape || a.dims != b.dims) {
    THIMBLE_TRY(a, map(op.inputs[0]));
    THIMBLE_TRY(b, map(op.inputs[1]));
  }
  const bool single = b.dims.elements() == 1 || a.dims.elements() == 1;
  const bool sum = op.kind == OpKind::qadd;
  a.zero_point = static_cast<int32_t>(op.get(ir::attr::a_zp));
  b.zero_point = static_cast<int32_t>(op.get(ir::attr::b_zp));
  Layer layer;
  layer.operation = sum ? Operation::kAdd : Operation::kMultiply;
  if (sum) {
    layer.multipliers = {static_cast<int32_t>(op.get(ir::attr::a_mult)),
                         static_cast<int32_t>(op.get(ir::attr::b_mult))};
    layer.shifts = {static_cast<int8_t>(op.get(ir::attr::y_shift))};
  } else {
    layer.multipliers = {static_cast<int32_t>(op.get(ir::attr::mult))};
    layer.shifts = {static_cast<int8_t>(op.get(ir::attr::shift))};
  }
  if (a.dims.elements() < b.dims.elements()) {
    std::swap(a, b);
    if (sum) std::swap(layer.multipliers[0], layer.multipliers[1]);
  }
  const Dims repeated = b.dims;
  const int32_t a_zero = a.zero_point, b_zero = b.zero_point;
  if (!single && a.dims.c > 1 && b.dims.c == 1 && b.dims.h == a.dims.h && b.dims.w == a.dims.w) {
    // Repeated channels become repeated rows.
    THIMBLE_TRY(a, reshaped(a, {1, a.dims.c, a.dims.h * a.dims.w}));
    THIMBLE_TRY(b, reshaped(b, {1, 1, b.dims.h * b.dims.w}));
    a.zero_point = a_zero;
    b.zero_point = b_zero;
  }
  if (!single && !repeats(b.dims, a.dims)) {
    return unsupported("{} and {}: only height and width, or all channels, may be repeated",
                       dims_text(a.dims), dims_text(repeated));
  }
  if (sum) {
    const int64_t bias = -(int64_t{layer.multipliers[0]} * a.zero_point +
                           int64_t{layer.multipliers[1]} * b.zero_point);
    layer.bias = {static_cast<int32_t>(bias)};
  }
  set_requantize(op, &layer);
  if (feeds_softmax(op.output)) layer.activation = Activation::kPrepareSoftmax;
  layer.inputs = {a, b};
  layer.output = result_of(op, a.dims);
  return append_result(op, std::move(layer));
}

Status Lowering::mean(const Op& op) {
  THIMBLE_CHECK(check_bounds(op));
  THIMBLE_TRY(BufferView x, map(op.inputs[0]));
  x.zero_point = static_cast<int32_t>(op.get(ir::attr::x_zp));
  Dims dims = x.dims;
  for (const int64_t dim : op.get(ir::attr::dims)) {
    const int64_t size = graph_.type(op.inputs[0]).shape[static_cast<size_t>(dim)];
    const auto axis = axis_of(op.inputs[0], dim);
    if (size == 1) continue;
    if (!axis || *axis == Axis::kChannel) {
      return unsupported("a mean over dimension {}; only height and width are supported", dim);
    }
    (*axis == Axis::kHeight ? dims.h : dims.w) = 1;
  }
  const int64_t area = x.dims.elements() / dims.elements();
  Layer layer;
  layer.operation = Operation::kMean;
  layer.bias = {static_cast<int32_t>(-area * x.zero_point)};
  layer.multipliers = {static_cast<int32_t>(op.get(ir::attr::mult))};
  layer.shifts = {static_cast<int8_t>(op.get(ir::attr::shift))};
  set_requantize(op, &layer);
  if (feeds_softmax(op.output)) layer.activation = Activation::kPrepareSoftmax;
  layer.inputs = {x};
  layer.output = result_of(op, dims);
  return append_result(op, std::move(layer));
}

Status Lowering::pool(const Op& op) {
  THIMBLE_TRY(BufferView x, map(op.inputs[0]));
  THIMBLE_TRY(const Dims dims, dims_of(op.output));
  const auto& kernel = op.get(ir::attr::kernel);
  const auto& stride = op.get(ir::attr::stride);
  const auto& padding = op.get(ir::attr::padding);
  Layer layer;
  layer.kernel_h = kernel[0];
  layer.kernel_w = kernel[1];
  layer.stride_y = stride[0];
  layer.stride_x = stride[1];
  layer.pad_top = padding[0];
  layer.pad_left = padding[1];
  layer.pad_bottom = padding[2];
  layer.pad_right = padding[3];
  if (op.kind == OpKind::max_pool2d) {
    layer.operation = Operation::kMaxPool;
    layer.dilation_y = op.get(ir::attr::dilation)[0];
    layer.dilation_x = op.get(ir::attr::dilation)[1];
    layer.inputs = {x};
    layer.output = new_map(dims, x.element_bytes, x.zero_point);
  } else {
    THIMBLE_CHECK(check_bounds(op));
    x.zero_point = static_cast<int32_t>(op.get(ir::attr::x_zp));
    layer.operation = Operation::kAveragePool;
    layer.bias = {static_cast<int32_t>(-kernel[0] * kernel[1] * x.zero_point)};
    layer.multipliers = {static_cast<int32_t>(op.get(ir::attr::mult))};
    layer.shifts = {static_cast<int8_t>(op.get(ir::attr::shift))};
    set_requantize(op, &layer);
    layer.inputs = {x};
    layer.output = result_of(op, dims);
  }
  return append_result(op, std::move(layer));
}

Status Lowering::curve(const Op& op) {
  const bool tanh = op.kind == OpKind::qtanh12;
  THIMBLE_TRY(const BufferView x, raw(op.inputs[0]));
  Layer layer;
  layer.operation = tanh ? Operation::kTanh : Operation::kSigmoid;
  layer.inputs = {x};
  layer.output = new_map(x.dims, 1, tanh ? 0 : -128);
  return append_result(op, std::move(layer));
}

Status Lowering::softmax(const Op& op) {
  THIMBLE_TRY(const BufferView x, map(op.inputs[0]));
  const auto axis = axis_of(op.inputs[0], op.get(ir::attr::dim));
  if (!axis) return unsupported("a softmax over dimension {}", op.get(ir::attr::dim));
  Layer layer;
  layer.operation = Operation::kSoftmax;
  layer.axis = *axis;
  layer.inputs = {x};
  layer.output = new_map(x.dims, 1, -128);
  return append_result(op, std::move(layer));
}

}  // namespace thimble::engine::axon
