// SPDX-License-Identifier: Apache-2.0
// Elementwise arithmetic: values are widened to int32, computed in int32, and rescaled.

#include <algorithm>

#include "interchange/tosa/tosa_lowering.h"

namespace thimble::interchange {

using ir::DimOrder;
using ir::OpKind;

Status TosaLowering::add_or_subtract() {
  const bool subtracts = op_->kind == OpKind::qsub || op_->kind == OpKind::qsub16;
  const DimOrder order = common_order();
  const auto term = [&](size_t i, const ir::MultiplierKeys& keys, ir::AttrKey<int64_t> zero,
                        bool negate) {
    const auto zp = static_cast<int32_t>(zero_point(zero));
    int x = broadcastable(i, order);
    // RESCALE requires inputs below 2^(shift-1); int16 values are therefore shifted separately.
    x = wide() ? b_.up(b_.widen(x), 15) : b_.rescale(x, {{{1 << 30, 21}}, zp});
    if (negate) x = b_.sub(b_.same_rank(x, 0), x);
    return multiplied(x, multiplier(keys), rounding());
  };
  const int a = term(0, ir::attr::a_multiplier, ir::attr::a_zp, false);
  const int b = term(1, ir::attr::b_multiplier, ir::attr::b_zp, subtracts);
  return put(requantized(b_.add(a, b), {multiplier(ir::attr::y_multiplier)}), order);
}

Status TosaLowering::multiply() {
  const DimOrder order = common_order();
  const int a = b_.widen(broadcastable(0, order), zero_point(ir::attr::a_zp));
  const int b = b_.widen(broadcastable(1, order), zero_point(ir::attr::b_zp));
  return put(requantized(b_.mul(a, b), {multiplier()}), order);
}

/// Returns a * 2^20 / b, rounded to nearest, halves away from zero; b must not be 0.
int TosaLowering::divided(int a, int b) {
  const int zero = b_.same_rank(a, 0);
  const int size_a = b_.max_scalar(b_.sub(zero, a), 0);
  const int magnitude_a = b_.add(b_.max_scalar(a, 0), size_a);
  const int magnitude_b = b_.add(b_.max_scalar(b, 0), b_.max_scalar(b_.sub(zero, b), 0));
  const int twice = b_.binary(Op::kIntDiv, b_.up(magnitude_a, 21), magnitude_b);
  const int rounded = b_.down(b_.plus(twice, 1), 1);
  const int one = b_.same_rank(a, 1), minus = b_.same_rank(a, -1);
  const int sign = b_.mul(b_.select(b_.greater(zero, a), minus, one),
                          b_.select(b_.greater(zero, b), minus, one));
  return b_.mul(rounded, sign);
}

Status TosaLowering::divide() {
  const DimOrder order = common_order();
  const int a = b_.widen(broadcastable(0, order), zero_point(ir::attr::a_zp));
  const int b = b_.widen(broadcastable(1, order), zero_point(ir::attr::b_zp));
  const int zero = b_.same_rank(b, 0);
  const int by_zero = b_.equal(b, zero);
  const int quotient = divided(a, b_.select(by_zero, b_.same_rank(b, 1), b));
  const int y = b_.widen(requantized(quotient, {multiplier()}));
  const auto limit = [&](ir::AttrKey<int64_t> key) {
    return b_.same_rank(y, static_cast<int32_t>(get(key)));
  };
  const auto y_zp = static_cast<int32_t>(
      std::clamp(zero_point(ir::attr::y_zp), get(ir::attr::min), get(ir::attr::max)));
  int alone = b_.select(b_.greater(a, zero), limit(ir::attr::max), b_.same_rank(y, y_zp));
  alone = b_.select(b_.greater(zero, a), limit(ir::attr::min), alone);
  return put(b_.narrow(b_.select(by_zero, alone, y), result_type()), order);
}

Status TosaLowering::prelu() {
  const DimOrder order = common_order();
  const int x = b_.widen(broadcastable(0, order), zero_point(ir::attr::x_zp));
  const int w = b_.widen(broadcastable(1, order), zero_point(ir::attr::w_zp));
  const int above = multiplied(x, multiplier(), rounding());
  const int below = multiplied(b_.mul(x, w), multiplier(ir::attr::w_multiplier), rounding());
  const int chosen = b_.select(b_.greater_equal(x, b_.same_rank(x, 0)), above, below);
  const int y = b_.clamp(b_.plus(chosen, static_cast<int32_t>(zero_point(ir::attr::y_zp))),
                         get(ir::attr::min), get(ir::attr::max));
  return put(b_.narrow(y, result_type()), order);
}

Status TosaLowering::lookup_table() {
  const DimOrder order = common_order();
  const int x = operand_in(0, order);
  const int table = logical(1);
  return put(b_.emit(Op::kTable, {}, {x, table}, DType::kInt8, b_.shape(x)), order);
}

/// TOSA's int16 TABLE returns entry * 128 + slope * rest. Thimble's lut16 divides that by 128 and
/// rounds halves up.
Status TosaLowering::table16() {
  const DimOrder order = common_order();
  const int x = operand_in(0, order);
  THIMBLE_TRY(const ir::Tensor* points, constant_content(1));
  const auto entries = points->data<int16_t>();
  for (size_t i = 1; i < entries.size(); ++i) {
    const int slope = entries[i] - entries[i - 1];
    if (slope < -32768 || slope > 32767)
      return refuse("two adjacent entries of its table differ by more than TABLE allows");
  }
  const int line = b_.emit(Op::kTable, {}, {x, logical(1)}, DType::kInt32, b_.shape(x));
  return put(b_.narrow(b_.down(line, 7, true), DType::kInt16), order);
}

Status TosaLowering::max_or_min() {
  const DimOrder order = common_order();
  const Op kind = op_->kind == OpKind::maximum ? Op::kMaximum : Op::kMinimum;
  const int a = b_.widen(broadcastable(0, order)), b = b_.widen(broadcastable(1, order));
  const int y = b_.binary(kind, a, b);
  return put(result_type() == DType::kInt32 ? y : b_.narrow(y, result_type()), order);
}

Status TosaLowering::compare() {
  if (dtype(0) == ir::DType::kBool) return refuse("it compares booleans");
  const DimOrder order = common_order();
  const int a = b_.widen(broadcastable(0, order)), b = b_.widen(broadcastable(1, order));
  constexpr int kEqual = 0, kUnequal = 1, kLess = 2, kLessEqual = 3, kGreater = 4;
  int y = -1;
  switch (get(ir::attr::relation)) {
    case kEqual:
      y = b_.equal(a, b);
      break;
    case kUnequal:
      y = b_.unary(Op::kLogicalNot, b_.equal(a, b));
      break;
    case kLess:
      y = b_.greater(b, a);
      break;
    case kLessEqual:
      y = b_.greater_equal(b, a);
      break;
    case kGreater:
      y = b_.greater(a, b);
      break;
    default:
      y = b_.greater_equal(a, b);
  }
  return put(y, order);
}

Status TosaLowering::logical() {
  const DimOrder order = common_order();
  const int a = broadcastable(0, order);
  if (op_->kind == OpKind::logical_not) {
    return put(b_.unary(Op::kLogicalNot, a), order);
  }
  const Op kind = op_->kind == OpKind::logical_and ? Op::kLogicalAnd : Op::kLogicalOr;
  return put(b_.binary(kind, a, broadcastable(1, order)), order);
}

Status TosaLowering::where() {
  const DimOrder order = common_order();
  return put(b_.select(broadcastable(0, order), broadcastable(1, order), broadcastable(2, order)),
             order);
}

Status TosaLowering::rescale_codes() {
  const DimOrder order = common_order();
  const int x = b_.widen(operand_in(0, order), zero_point(ir::attr::x_zp));
  return put(requantized(x, {multiplier()}), order);
}

}  // namespace thimble::interchange
