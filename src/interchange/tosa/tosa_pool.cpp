// SPDX-License-Identifier: Apache-2.0
// Pools, reductions over dimensions, and interpolation.

#include <algorithm>
#include <bit>
#include <limits>

#include "interchange/tosa/tosa_extent.h"
#include "interchange/tosa/tosa_lowering.h"

namespace thimble::interchange {

using ir::DimOrder;
using ir::OpKind;
using ir::Shape;

/// Both zero points are 0: TOSA's reciprocal of the count is a hair too large, so that it rounds
/// halves away from zero as our sums do, but only about code 0.
Status TosaLowering::pool() {
  const bool mean = op_->kind != OpKind::max_pool2d && op_->kind != OpKind::max_pool2d16;
  const auto &kernel = get(ir::attr::kernel), &stride = get(ir::attr::stride),
             &padding = get(ir::attr::padding);
  const Shape& s = shape(0);
  int x = image(0);
  if (!mean && get(ir::attr::dilation) != std::vector<int64_t>{1, 1}) {
    return put(dilated_max(x, result_shape()[2], result_shape()[3]), Layouts::image());
  }
  const Extent rows = exact_extent(s[2], padding[0], padding[2], kernel[0], stride[0]);
  const Extent columns = exact_extent(s[3], padding[1], padding[3], kernel[1], stride[1]);
  x = b_.slice(x, {0, 0, 0, 0}, {s[0], rows.size, columns.size, s[1]});
  const formats::tosa::PoolAttr attr{ints(kernel), ints(stride),
                                     ints({rows.before, rows.after, columns.before, columns.after}),
                                     is_float() ? DType::kFp32 : DType::kInt32};
  const Shape out = {s[0], rows.out, columns.out, s[1]};
  std::vector<int> operands = {x};
  if (mean) {
    const int zero = zero_constant();
    operands = {x, zero, zero};
  }
  int y = b_.emit(mean ? Op::kAvgPool2d : Op::kMaxPool2d, attr, operands, b_.type(x), out);
  if (mean && !is_float()) y = b_.clamp(y, get(ir::attr::min), get(ir::attr::max));
  return put(y, Layouts::image());
}

/// Computes a dilated max pool as the maximum of one strided slice per kernel tap.
int TosaLowering::dilated_max(int x, int64_t rows, int64_t columns) {
  const auto &kernel = get(ir::attr::kernel), &stride = get(ir::attr::stride),
             &padding = get(ir::attr::padding), &dilation = get(ir::attr::dilation);
  const int32_t least =
      is_float() ? std::bit_cast<int32_t>(-std::numeric_limits<float>::infinity()) : lowest();
  x = b_.pad(x, {0, padding[0], padding[1], 0}, {0, padding[2], padding[3], 0}, least);
  const int wide_x = b_.widen(x);
  int best = -1;
  for (int64_t r = 0; r < kernel[0]; ++r) {
    const int lines = b_.strided(wide_x, 1, r * dilation[0], rows, stride[0]);
    for (int64_t c = 0; c < kernel[1]; ++c) {
      const int tap = b_.strided(lines, 2, c * dilation[1], columns, stride[1]);
      best = best < 0 ? tap : b_.binary(Op::kMaximum, best, tap);
    }
  }
  return b_.narrow(best, b_.type(x));
}

/// Returns the mean over H and W of [N, H, W, C].
int TosaLowering::windows_mean(int x) {
  const Shape s = b_.shape(x);
  const formats::tosa::PoolAttr attr{
      ints({s[1], s[2]}), {1, 1}, {0, 0, 0, 0}, is_float() ? DType::kFp32 : DType::kInt32};
  const int zero = zero_constant();
  const Shape out = {s[0], 1, 1, s[3]};
  const int y = b_.emit(Op::kAvgPool2d, attr, {x, zero, zero}, b_.type(x), out);
  return is_float() ? y : b_.clamp(y, get(ir::attr::min), get(ir::attr::max));
}

/// Writes one pool per position of the result, because the windows differ in size.
Status TosaLowering::adaptive_pool() {
  const auto& size = get(ir::attr::size);
  const Shape& s = shape(0);
  const int x = image(0);
  std::vector<int> lines;
  for (int64_t r = 0; r < size[0]; ++r) {
    const int64_t top = r * s[2] / size[0], bottom = ((r + 1) * s[2] + size[0] - 1) / size[0];
    const int band = b_.part(x, 1, top, bottom - top);
    std::vector<int> cells;
    for (int64_t c = 0; c < size[1]; ++c) {
      const int64_t left = c * s[3] / size[1], right = ((c + 1) * s[3] + size[1] - 1) / size[1];
      const int cell = b_.part(band, 2, left, right - left);
      if (op_->kind != OpKind::adaptive_max_pool2d) {
        cells.push_back(windows_mean(cell));
      } else {
        cells.push_back(b_.reduce(Op::kReduceMax, b_.reduce(Op::kReduceMax, cell, 1), 2));
      }
    }
    lines.push_back(b_.concat(cells, 2));
  }
  return put(b_.concat(lines, 1), Layouts::image());
}

Status TosaLowering::mean() {
  const DimOrder order = layouts_.existing(operand(0));
  int sum = b_.widen(operand_in(0, order), zero_point(ir::attr::x_zp));
  for (const int64_t dim : get(ir::attr::dims)) {
    sum = b_.reduce(Op::kReduceSum, sum, Layouts::position(order, dim));
  }
  return put_reduced(requantized(sum, {multiplier()}, wide()), order);
}

Status TosaLowering::reduce_max_or_min() {
  const DimOrder order = layouts_.existing(operand(0));
  const Op kind = op_->kind == OpKind::amax ? Op::kReduceMax : Op::kReduceMin;
  int x = operand_in(0, order);
  if (b_.type(x) == DType::kBool) return refuse("it orders booleans");
  for (const int64_t dim : get(ir::attr::dims)) {
    x = b_.reduce(kind, x, Layouts::position(order, dim));
  }
  return put_reduced(x, order);
}

Status TosaLowering::arg_max_or_min() {
  int x = logical(0);
  if (b_.type(x) != DType::kInt8 && b_.type(x) != DType::kInt16 && !is_float()) {
    return refuse("ARGMAX reads int8, int16 or float");
  }
  if (get(ir::attr::smallest) != 0 && is_float()) {
    x = b_.times_float(x, -1);
  } else if (get(ir::attr::smallest) !=
             0) {  // the bitwise complement reverses the order of the values
    x = b_.narrow(b_.unary(Op::kBitwiseNot, b_.widen(x)), b_.type(x));
  }
  const auto axis = static_cast<int32_t>(get(ir::attr::dim));
  Shape out = b_.shape(x);
  out.erase(out.begin() + axis);
  const int y = b_.emit(Op::kArgMax, formats::tosa::AxisAttr{axis}, {x}, DType::kInt32, out);
  return put(b_.reshape(y, result_shape()));
}

/// Computes a cumulative sum as a matrix product with a triangular matrix of ones.
Status TosaLowering::running_sum() {
  const DimOrder last = order_with_last({get(ir::attr::dim)});
  const Shape there = Layouts::in_order(shape(0), last);
  const int64_t n = there.back(), rows = ir::element_count(there) / n;
  std::vector<int32_t> ones;
  for (int64_t k = 0; k < n; ++k) {
    for (int64_t i = 0; i < n; ++i) ones.push_back(k <= i ? 1 : 0);
  }
  const int x = b_.reshape(operand_in(0, last), {1, rows, n});
  if (is_float()) {
    const int triangle = b_.floats({1, n, n}, {ones.begin(), ones.end()});
    const int zero = zero_constant();
    const int y = b_.emit(Op::kMatMul, {}, {x, triangle, zero, zero}, DType::kFp32, {1, rows, n});
    return put(b_.reshape(y, there), last);
  }
  if (b_.type(x) != DType::kInt8) return refuse("16-bit activations");
  const int zero = b_.constants8({1}, {static_cast<int32_t>(zero_point(ir::attr::x_zp))});
  const int acc =
      b_.emit(Op::kMatMul, {}, {x, b_.constants8({1, n, n}, ones), zero, b_.constants8({1}, {0})},
              DType::kInt32, {1, rows, n});
  return put(b_.reshape(requantized(acc, {multiplier()}), there), last);
}

// --- bilinear ----------------------------------------------------------------------------------

/// Returns (2048 - w[i]) * x[low[i]] + w[i] * x[min(low[i] + 1, last)] along an axis of [N, H, W,
/// C].
int TosaLowering::interpolated(int x, int axis, const ir::Tensor& low, const ir::Tensor& weight) {
  const Shape s = b_.shape(x);
  const auto at = static_cast<size_t>(axis);
  const auto n = static_cast<int32_t>(s[at]);
  const auto lows = low.data<int32_t>();
  const auto weights = weight.data<int32_t>();
  std::vector<int32_t> below(lows.begin(), lows.end()), above, keep;
  for (const int32_t l : lows) above.push_back(std::min(l + 1, n - 1));
  for (const int32_t w : weights) keep.push_back(2048 - w);
  const int64_t before = ir::element_count(Shape(s.begin(), s.begin() + axis));
  const int64_t behind = ir::element_count(Shape(s.begin() + axis + 1, s.end()));
  const auto count = static_cast<int64_t>(lows.size());
  const int values = b_.reshape(x, {before, n, behind});
  const auto term = [&](const std::vector<int32_t>& rows, const std::vector<int32_t>& factors) {
    const int index = b_.tile(b_.constants32({1, count}, rows), {before, count});
    return b_.mul(b_.gather(values, index), b_.constants32({1, count, 1}, factors));
  };
  const int sum = b_.add(term(below, keep), term(above, {weights.begin(), weights.end()}));
  Shape out = s;
  out[at] = count;
  return b_.reshape(sum, out);
}

Status TosaLowering::resize() {
  if (wide()) return refuse("16-bit activations: their sums need more than 32 bits");
  for (size_t i = 1; i < 5; ++i) THIMBLE_CHECK(check_constant(i));
  const int x = b_.widen(image(0));
  const auto tensor = [&](size_t i) -> const ir::Tensor& {
    return *graph_.value(operand(i)).constant;
  };
  const int rows = interpolated(x, 1, tensor(1), tensor(2));
  const int sum = interpolated(rows, 2, tensor(3), tensor(4));
  return put(b_.narrow(b_.down(sum, 22, true), DType::kInt8), Layouts::image());
}

}  // namespace thimble::interchange
