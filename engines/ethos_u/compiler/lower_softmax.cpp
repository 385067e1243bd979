// SPDX-License-Identifier: Apache-2.0
// Softmax in 32-bit steps; each is a gemmlowp step of docs/numerics.md:
//
//   M = max x;  e = table[x - M];  S = sum of e / 2^12;  z = leading zeros of S
//   h = S << (z - 1)             half of 1 + v, exactly
//   r = 1 / (2 h)                three Newton steps
//   y = (e * r >> 31) >> (35 - z), rounded
//
// The LUT holds e(d) for d = -255..0 at d + 127, the result of a subtraction with zero point 127.
// It holds 0 for values too far below the maximum.

#include <algorithm>

#include "engines/ethos_u/compiler/limits.h"
#include "engines/ethos_u/compiler/lowering.h"
#include "numerics/softmax.h"

namespace thimble::engine::ethos_u {

using ir::OpKind;

struct Lowering::SoftmaxRows {
  View x, y;  // [h, w, depth]
  bool masked = false;
  int64_t integer_bits = 35;  // constant part of the last shift
  int64_t low = -128, high = 127;
  Table exponentials;
};

namespace {

/// floor((a * b + 2^30) / 2^31).
Requantize high_product() {
  Requantize scale = unit_scale();
  scale.shift = {31};
  return scale;
}

}  // namespace

/// Computes 1 / (2 h) for h in [2^30, 2^31) as Q0.31, with Newton iterations in Q2.29 that start at
/// 48/17 - 32/17 h. For all h, the corrections are below 2^24 and the last iterate y is at most
/// 2^30. Twice y is saturated to 2^31 - 1 by min(y, 2^30 - 1) + y, which stays within 32 bits.
Result<View> Lowering::reciprocal(const View& h) {
  const auto fresh = [&] { return new_view(kInt32, h.shape, order_of(h)); };
  View y = fresh(), first = fresh();
  THIMBLE_CHECK(binary(ElementwiseMode::kMul, first, h, constant_i32(-1010580540), high_product()));
  THIMBLE_CHECK(binary(ElementwiseMode::kAdd, y, first, constant_i32(1515870810)));
  for (int step = 0; step < 3; ++step) {
    View product = fresh(), error = fresh(), change = fresh(), scaled = fresh(), next = fresh();
    THIMBLE_CHECK(binary(ElementwiseMode::kMul, product, h, y, high_product()));
    NpuOp sub = op_of(NpuOpKind::kElementwise);
    sub.elementwise = ElementwiseMode::kSub;
    sub.ifm2_first = true;
    const View one = broadcast_view(constant_i32(1 << 29), h.shape);
    THIMBLE_CHECK(each(sub, error, product, &one));
    THIMBLE_CHECK(binary(ElementwiseMode::kMul, change, y, error, high_product()));
    THIMBLE_CHECK(with_scalar(ElementwiseMode::kShl, scaled, change, 2));
    THIMBLE_CHECK(binary(ElementwiseMode::kAdd, next, y, scaled));
    y = next;
  }
  View limited = fresh(), doubled = fresh();
  THIMBLE_CHECK(binary(ElementwiseMode::kMin, limited, y, constant_i32((1 << 30) - 1)));
  THIMBLE_CHECK(binary(ElementwiseMode::kAdd, doubled, limited, y));
  return doubled;
}

Result<View> Lowering::sum_rows(const View& x) {
  const View total = scratch(kInt32, {x.shape[0], x.shape[1], 1});
  NpuOp op = op_of(NpuOpKind::kPool);
  op.pool = PoolMode::kReduceSum;
  const auto operand = [](const View& view) {
    Operand result;
    result.tensor = view.tensor;
    result.element = view.element;
    result.offset = view.offset;
    result.shape = {view.shape[0], view.shape[1], view.shape[2]};
    result.stride_h = view.steps[0];
    result.stride_w = view.steps[1];
    return result;
  };
  op.ifm = operand(x);
  op.ofm = operand(total);
  push(std::move(op));
  return total;
}

Status Lowering::softmax_rows(const SoftmaxRows& rows) {
  const View& x = rows.x;
  const ir::Shape whole = x.shape, one = {whole[0], whole[1], 1};
  const View maximum = scratch(kByte, one);
  THIMBLE_CHECK(largest_along(maximum, x, {2}));

  View e = scratch(kInt32, whole);
  NpuOp sub = op_of(NpuOpKind::kElementwise);
  sub.elementwise = ElementwiseMode::kSub;
  sub.minimum = INT8_MIN;
  sub.maximum = INT8_MAX;
  sub.table = rows.exponentials;
  const View repeated = broadcast_view(maximum, whole);
  THIMBLE_CHECK(each(sub, e.with_zero_point(127), x, &repeated));
  if (rows.masked) {
    THIMBLE_TRY(const View taken, widened(x, [](int64_t code) { return code == -128 ? 0 : 1; }));
    const View kept = scratch(kInt32, whole);
    THIMBLE_CHECK(binary(ElementwiseMode::kMul, kept, e, taken));
    e = kept;
  }
  const View part = scratch(kInt32, whole);
  THIMBLE_CHECK(with_scalar(ElementwiseMode::kShr, part, e, 12));
  THIMBLE_TRY(const View sum, sum_rows(part));
  const View zeros = scratch(kInt32, one), less = scratch(kInt32, one), h = scratch(kInt32, one);
  THIMBLE_CHECK(unary(ElementwiseMode::kClz, zeros, sum));
  THIMBLE_CHECK(with_scalar(ElementwiseMode::kSub, less, zeros, 1));
  THIMBLE_CHECK(binary(ElementwiseMode::kShl, h, sum, less));
  THIMBLE_TRY(View factor, reciprocal(h));
  View right = scratch(kInt32, one);
  const auto bits = static_cast<int32_t>(rows.integer_bits);
  THIMBLE_CHECK(with_scalar(ElementwiseMode::kSub, right, zeros, bits, unit_scale(), true));
  // With 512 or more equal maxima the shift can exceed 31 bits; all results are then zero.
  if (whole[2] >= 512) {
    const View above = scratch(kInt32, one), some = scratch(kInt32, one),
               truth = scratch(kInt32, one), masked = scratch(kInt32, one),
               limited = scratch(kInt32, one);
    THIMBLE_CHECK(with_scalar(ElementwiseMode::kSub, above, zeros, bits - 32));
    THIMBLE_CHECK(with_scalar(ElementwiseMode::kMax, some, above, 0));
    THIMBLE_CHECK(with_scalar(ElementwiseMode::kMin, truth, some, 1));
    THIMBLE_CHECK(binary(ElementwiseMode::kMul, masked, factor, truth));
    THIMBLE_CHECK(with_scalar(ElementwiseMode::kMin, limited, right, 31));
    factor = masked;
    right = limited;
  }
  const View product = scratch(kInt32, whole);
  THIMBLE_CHECK(binary(ElementwiseMode::kMul, product, e, factor, high_product()));
  NpuOp shift = op_of(NpuOpKind::kElementwise);
  shift.elementwise = ElementwiseMode::kShr;
  shift.minimum = static_cast<int32_t>(rows.low);
  shift.maximum = static_cast<int32_t>(rows.high);
  const View by = broadcast_view(right, whole);
  return each(shift, rows.y, product, &by);
}

Result<View> Lowering::softmax(const ir::Op& op) {
  const auto dim = static_cast<size_t>(op.get(ir::attr::dim));
  THIMBLE_TRY(View x, read(op.inputs[0]));
  if (!(x.element == kByte)) {
    return unsupported("exponentials of {}-bit differences, the limit is 8 bits", x.element.bits);
  }
  THIMBLE_TRY(x, with_inner(x, dim));
  THIMBLE_TRY(View y, result(op, &x));
  const bool aside = y.steps[dim] != 1 && y.shape[dim] > 1;
  const View made = aside ? new_view(y.element, y.shape, inner_order(y, dim)) : y;

  SoftmaxRows rows;
  rows.masked = op.kind == OpKind::qmasked_softmax;
  const bool wide = op.kind == OpKind::qsoftmax16;
  if (wide) {
    rows.integer_bits = 28;
    rows.low = 0;
    rows.high = INT16_MAX;
  }
  const numerics::Softmax formula = {static_cast<int32_t>(op.get(ir::attr::mult)),
                                     static_cast<int32_t>(op.get(ir::attr::shift)),
                                     static_cast<int32_t>(op.get(ir::attr::diff_min))};
  rows.exponentials.kind = Table::Kind::k8To32;
  for (int32_t difference = -255; difference <= 0; ++difference) {
    const auto value =
        static_cast<uint32_t>(difference < formula.diff_min ? 0 : formula.exp(difference));
    for (int byte = 0; byte < 4; ++byte) {
      rows.exponentials.content.push_back(static_cast<std::byte>(value >> (8 * byte) & 0xFFU));
    }
  }
  std::vector<size_t> others;
  for (size_t i = 0; i < x.rank(); ++i) {
    if (i != dim) others.push_back(i);
  }
  const View* views[] = {&made, &x};
  const Shape4 wanted = program_.tensors[static_cast<size_t>(made.tensor)].shape;
  THIMBLE_TRY(const Grid grid, arrange(common_axes(views, others), wanted, 2));
  int64_t count = 1;
  for (const Axis& loop : grid.loops) count *= loop.size;
  if (count > kRowsMax)
    return unsupported("rows repeated {} times, the limit is {}", count, kRowsMax);
  THIMBLE_CHECK(for_each_loop(grid.loops, 2, [&](const std::vector<int64_t>& offsets) {
    const auto plane = [&](const View& view, size_t index) {
      View result = view;
      result.offset += offsets[index];
      result.shape = {grid.h.size, grid.w.size, x.shape[dim]};
      result.steps = {grid.h.steps[index], grid.w.steps[index], 1};
      return result;
    };
    rows.y = plane(made, 0).with_zero_point(wide ? 0 : -128);
    rows.x = plane(x, 1);
    return softmax_rows(rows);
  }));
  if (aside) THIMBLE_CHECK(copy(y, made));
  return y;
}

}  // namespace thimble::engine::ethos_u
