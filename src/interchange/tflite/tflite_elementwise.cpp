// SPDX-License-Identifier: Apache-2.0
// Elementwise arithmetic.

#include <algorithm>
#include <cmath>
#include <set>

#include "interchange/tflite/tflite_lowering.h"

namespace thimble::interchange {

using formats::tflite::ActivationOptions;
using ir::DimOrder;
using ir::OpKind;
using ir::Shape;

Status TfliteLowering::add_or_subtract() {
  const bool subtracts = op_->kind == OpKind::qsub || op_->kind == OpKind::qsub16;
  THIMBLE_TRY(const float a_scale, operand_scale(0, ir::attr::a_zp));
  THIMBLE_TRY(const float b_scale, operand_scale(1, ir::attr::b_zp));
  THIMBLE_TRY(const float y_scale, result_scale());
  const auto joint = static_cast<double>(2 * std::max(a_scale, b_scale));
  const int spare = wide() ? 15 : 20;
  const auto a = litert_multiplier(static_cast<double>(a_scale) / joint);
  const auto b = litert_multiplier(static_cast<double>(b_scale) / joint);
  const auto y = litert_multiplier(joint / std::ldexp(static_cast<double>(y_scale), spare));
  if (a != multiplier(ir::attr::a_multiplier) || b != multiplier(ir::attr::b_multiplier) ||
      y != multiplier(ir::attr::y_multiplier) || single_rounding()) {
    return refuse("the multipliers differ from those computed from the scales");
  }
  if (subtracts) {
    // LiteRT rounds b and subtracts it; Thimble rounds -b. The results differ on exact halves.
    const int64_t zero = zero_point(ir::attr::b_zp);
    for (int64_t code = lowest(); code <= highest(); ++code) {
      const auto up = static_cast<int32_t>((code - zero) * (int64_t{1} << spare));
      if (numerics::requantize(-up, b.mult, b.shift) !=
          -numerics::requantize(up, b.mult, b.shift)) {
        return refuse("SUB rounds a half of the second operand the other way");
      }
    }
  }
  const DimOrder order = common_order();
  const ClampMethod t = clamp_method(y_scale);
  const int made =
      emit(subtracts ? Op::kSub : Op::kAdd, ActivationOptions{t.activation},
           {broadcastable(0, order), broadcastable(1, order)}, make_result(result_shape_in(order)));
  return put(t.limit ? clamped(made) : made, order);
}

/// LiteRT computes this multiplier in float. If that changes results, the product gets a scale that
/// is a few floats away. A QUANTIZE that changes no quantized value then restores the graph's
/// scale.
Status TfliteLowering::multiply() {
  THIMBLE_TRY(const float a_scale, operand_scale(0, ir::attr::a_zp));
  THIMBLE_TRY(const float b_scale, operand_scale(1, ir::attr::b_zp));
  THIMBLE_TRY(const float y_scale, result_scale());
  const int64_t a_zp = get(ir::attr::a_zp), b_zp = get(ir::attr::b_zp);
  std::set<int32_t> products;
  for (int64_t a = -128 - a_zp; a <= 127 - a_zp; ++a) {
    for (int64_t b = -128 - b_zp; b <= 127 - b_zp; ++b) {
      products.insert(static_cast<int32_t>(a * b));
    }
  }
  const RequantizeFn ours = make_requantize_fn(multiplier(), bounds(), single_rounding());
  auto found = nearest_fitting_scale(y_scale, [&](float scale) {
    const auto theirs = litert_multiplier(static_cast<double>(a_scale * b_scale / scale));
    const RequantizeFn step = make_requantize_fn(theirs, bounds());
    return numerics::shift_in_range(theirs.shift) &&
           std::ranges::all_of(products, [&](int32_t p) { return ours(p) == step(p); });
  });
  if (profile_.functions) found = y_scale;  // no QUANTIZE: some products are off by one
  if (!found) return refuse("MUL's multiplier, computed from the scales, gives other results");
  const DimOrder order = common_order();
  const Shape out = result_shape_in(order);
  const ClampMethod t = clamp_method(*found);
  int made = make_result(out);
  if (*found != y_scale) at(made).scale = {*found};
  emit(Op::kMul, ActivationOptions{t.activation},
       {broadcastable(0, order), broadcastable(1, order)}, made);
  if (t.limit) made = clamped(made);
  if (*found != y_scale) made = emit(Op::kQuantize, {}, {made}, make_result(out));
  return put(made, order);
}

/// Reads entry x + 128 of the table with GATHER: LiteRT's activations round differently.
Status TfliteLowering::table_lookup() {
  THIMBLE_CHECK(check_constant(1));
  const DimOrder order = common_order();
  const Shape out = result_shape_in(order);
  const int x = operand_in(0, order);
  const int whole = emit(Op::kCast, formats::tflite::CastOptions{DType::kInt8, DType::kInt32}, {x},
                         make(out, DType::kInt32, ".code"));
  const int place = emit(Op::kAdd, ActivationOptions{}, {whole, constants({}, {128})},
                         make(out, DType::kInt32, ".place"));
  const int entries = make_result({256});
  at(entries).name += ".table";
  at(entries).data = graph_.value(operand(1)).constant->bytes;
  return put(emit(Op::kGather, formats::tflite::AxisOptions{0}, {entries, place}, make_result(out)),
             order);
}

Status TfliteLowering::max_or_min() {
  const DimOrder order = common_order();
  return put(
      emit(op_->kind == OpKind::maximum ? Op::kMaximum : Op::kMinimum, {},
           {broadcastable(0, order), broadcastable(1, order)}, make_result(result_shape_in(order))),
      order);
}

/// Compares int32 values: LiteRT's int8 comparisons scale and round the operands first.
Status TfliteLowering::compare() {
  if (dtype(0) == ir::DType::kBool) return refuse("it compares booleans");
  const DimOrder order = common_order();
  const auto whole = [&](size_t i) {
    const int x = broadcastable(i, order);
    if (at(x).type == DType::kInt32 || at(x).type == DType::kInt64) return x;
    const Shape s(at(x).shape.begin(), at(x).shape.end());
    return emit(Op::kCast, formats::tflite::CastOptions{at(x).type, DType::kInt32}, {x},
                make(s, DType::kInt32, ".code"));
  };
  constexpr Op kOps[] = {Op::kEqual,     Op::kNotEqual, Op::kLess,
                         Op::kLessEqual, Op::kGreater,  Op::kGreaterEqual};
  const Op kind = kOps[static_cast<size_t>(get(ir::attr::relation))];
  return put(emit(kind, {}, {whole(0), whole(1)}, make_result(result_shape_in(order))), order);
}

Status TfliteLowering::logical() {
  const DimOrder order = common_order();
  std::vector<int> operands = {broadcastable(0, order)};
  Op kind = Op::kLogicalNot;
  if (op_->kind != OpKind::logical_not) {
    kind = op_->kind == OpKind::logical_and ? Op::kLogicalAnd : Op::kLogicalOr;
    operands.push_back(broadcastable(1, order));
  }
  return put(emit(kind, {}, operands, make_result(result_shape_in(order))), order);
}

Status TfliteLowering::where() {
  const DimOrder order = common_order();
  return put(emit(Op::kSelectV2, {},
                  {broadcastable(0, order), broadcastable(1, order), broadcastable(2, order)},
                  make_result(result_shape_in(order))),
             order);
}

Status TfliteLowering::rescale_codes() {
  THIMBLE_TRY(const float x_scale, operand_scale(0, ir::attr::x_zp));
  THIMBLE_TRY(const float y_scale, result_scale());
  const auto theirs =
      litert_multiplier(static_cast<double>(x_scale) / static_cast<double>(y_scale));
  const int64_t zero = get(ir::attr::x_zp);
  const int64_t low = lowest() - zero, high = highest() - zero;
  if (!numerics::shift_in_range(theirs.shift) ||
      !same_requantization(make_requantize_fn(multiplier(), bounds()),
                           make_requantize_fn(theirs, bounds()), low, high)) {
    return refuse("QUANTIZE's multiplier, computed from the scales, gives other results");
  }
  const DimOrder order = common_order();
  return put(emit(Op::kQuantize, {}, {operand_in(0, order)}, make_result(result_shape_in(order))),
             order);
}

}  // namespace thimble::interchange
