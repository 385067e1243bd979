// SPDX-License-Identifier: Apache-2.0
// Type rules of recurrent layers: one layer, one direction, all time steps. Operands: x [T,B,I],
// initial state [1,B,H], weights [gates*H, I] and [gates*H, H]. Result: [T,B,H].

#include "ir/infer_rules.h"
#include "numerics/fixed_point.h"
#include "numerics/int16.h"
#include "numerics/recurrent.h"

namespace thimble::ir {
namespace {

/// Operand positions, which depend on the operator kind.
struct OperandIndices {
  size_t w_ih, w_hh;
  int64_t gates;
};

constexpr OperandIndices kGru{2, 3, 3};
constexpr OperandIndices kLstm{3, 4, 4};
constexpr OperandIndices kRnn{2, 3, 1};

/// Checks that x, the states and the weights agree, and returns the shape of the result.
Result<Shape> sequence(const InferContext& c, const OperandIndices& at) {
  THIMBLE_CHECK(c.expect_rank(0, 3));
  THIMBLE_CHECK(c.expect_rank(at.w_hh, 2));
  const Shape& x = c.shape(0);
  const int64_t hidden = c.shape(at.w_hh)[1];
  THIMBLE_CHECK(c.expect_shape(at.w_hh, {at.gates * hidden, hidden}));
  THIMBLE_CHECK(c.expect_shape(at.w_ih, {at.gates * hidden, x[2]}));
  for (size_t state = 1; state < at.w_ih; ++state) {
    THIMBLE_CHECK(c.expect_shape(state, {1, x[1], hidden}));
  }
  return Shape{x[0], x[1], hidden};
}

Result<Type> float_layer(const InferContext& c, const OperandIndices& at) {
  for (size_t i = 0; i < c.count(); ++i) {
    if (c.has(i)) THIMBLE_CHECK(c.expect_dtype(i, DType::kF32));
  }
  THIMBLE_TRY(Shape shape, sequence(c, at));
  for (size_t bias = at.w_hh + 1; bias < c.count(); ++bias) {
    if (c.has(bias)) THIMBLE_CHECK(c.expect_shape(bias, {at.gates * shape[2]}));
  }
  return Type{DType::kF32, std::move(shape), {}, {}};
}

/// Returns true if inputs and outputs are int16.
bool is_wide(const InferContext& c) {
  return c.type(0).dtype == DType::kI16;
}

/// Checks the zero point of an input or output of the layer: 0 for int16.
Status check_layer_zero_point(const InferContext& c, AttrKey<int64_t> key) {
  return is_wide(c) ? c.expect_range(key, 0, 0) : check_zero_point(c, key);
}

/// Checks multipliers of shape [2, rows] (per row of w_ih and of w_hh) or [2, gates] (per gate).
Status check_row_multipliers(const InferContext& c, size_t mult, const OperandIndices& at,
                             int64_t hidden) {
  for (const size_t i : {mult, mult + 1}) {
    THIMBLE_CHECK(c.expect_dtype(i, DType::kI32));
    THIMBLE_CHECK(c.expect_constant(i));
    if (c.shape(i) != Shape{2, at.gates}) {
      THIMBLE_CHECK(c.expect_shape(i, {2, at.gates * hidden}));
    }
  }
  THIMBLE_CHECK(c.expect_shape(mult + 1, c.shape(mult)));
  for (const int32_t value : c.value(mult).constant->data<int32_t>()) {
    if (value >= 0) continue;
    return bad_input("mult (%{}) holds {}, expected 0 or more", c.value(mult).name, value);
  }
  const int32_t shift_max = is_wide(c) ? numerics::kRequantize64ShiftMax : numerics::kShiftMax;
  for (const int32_t value : c.value(mult + 1).constant->data<int32_t>()) {
    if (value >= numerics::kShiftMin && value <= shift_max) continue;
    return bad_input("shift (%{}) holds {}, expected {} to {}", c.value(mult + 1).name, value,
                     numerics::kShiftMin, shift_max);
  }
  return ok();
}

/// Checks the tanh table of docs/numerics.md, "Recurrent layers".
Status check_table(const InferContext& c, size_t i) {
  THIMBLE_CHECK(c.expect_dtype(i, DType::kI16));
  THIMBLE_CHECK(c.expect_constant(i));
  THIMBLE_CHECK(c.expect_shape(i, {numerics::kTanhEntries}));
  for (const int16_t entry : c.value(i).constant->data<int16_t>()) {
    if (entry != INT16_MIN) continue;
    return bad_input("table (%{}) holds {}, expected {} or more", c.value(i).name, entry,
                     INT16_MIN + 1);
  }
  return ok();
}

/// Checks what qgru, qlstm and qrnn have in common; `biases` bias operands follow w_hh.
Result<Shape> integer_layer(const InferContext& c, const OperandIndices& at, size_t biases) {
  THIMBLE_CHECK(expect_quantized(c));
  THIMBLE_CHECK(c.expect_dtype(1, c.type(0).dtype));
  for (const size_t i : {at.w_ih, at.w_hh}) THIMBLE_CHECK(c.expect_dtype(i, DType::kI8));
  THIMBLE_TRY(Shape shape, sequence(c, at));
  // |x - zero_point| <= 255 or 2^15, |w| <= 128.
  const int64_t terms_max =
      is_wide(c) ? (numerics::kRequantize64SumMax - 1) / (32768 * 128) : INT32_MAX / (255 * 128);
  if (c.shape(0)[2] > terms_max || shape[2] > terms_max) {
    return unsupported("sums of {} products may leave {} bits, at most {}",
                       std::max(c.shape(0)[2], shape[2]), is_wide(c) ? 48 : 32, terms_max);
  }
  for (size_t i = at.w_hh + 1; i <= at.w_hh + biases; ++i) {
    THIMBLE_CHECK(c.expect_dtype(i, DType::kI32));
    THIMBLE_CHECK(c.expect_shape(i, {at.gates * shape[2]}));
  }
  THIMBLE_CHECK(check_row_multipliers(c, at.w_hh + biases + 1, at, shape[2]));
  THIMBLE_CHECK(check_table(c, at.w_hh + biases + 3));
  THIMBLE_CHECK(check_layer_zero_point(c, attr::x_zp));
  THIMBLE_CHECK(check_layer_zero_point(c, attr::h_zp));
  THIMBLE_CHECK(check_multiplier(c, attr::h_multiplier));
  return shape;
}

/// Checks weight_bits. Layers with 16-bit activations have weights of 8 bits.
Status check_bits(const InferContext& c, const OperandIndices& at) {
  for (const size_t i : {at.w_ih, at.w_hh}) THIMBLE_CHECK(check_weight_bits(c, i));
  if (c.get(attr::weight_bits) == 8 || !is_wide(c)) return ok();
  return bad_input("weight_bits is 4 with int16 activations, expected 8");
}

}  // namespace

Result<Type> infer_gru(const InferContext& c) {
  return float_layer(c, kGru);
}
Result<Type> infer_lstm(const InferContext& c) {
  THIMBLE_CHECK(c.expect_range(attr::cell, 0, 1));
  return float_layer(c, kLstm);
}
Result<Type> infer_rnn(const InferContext& c) {
  return float_layer(c, kRnn);
}

Result<Type> infer_qgru(const InferContext& c) {
  THIMBLE_TRY(Shape shape, integer_layer(c, kGru, 2));
  THIMBLE_CHECK(check_bits(c, kGru));
  THIMBLE_CHECK(c.expect_range(attr::h_bits, 0, 15));
  THIMBLE_CHECK(check_multiplier(c, attr::h0_multiplier));
  return Type{c.type(0).dtype, std::move(shape), {}, {}};
}

Result<Type> infer_qlstm(const InferContext& c) {
  if (c.type(2).dtype != DType::kI16) THIMBLE_CHECK(c.expect_dtype(2, DType::kI8));
  THIMBLE_TRY(Shape shape, integer_layer(c, kLstm, 1));
  THIMBLE_CHECK(check_bits(c, kLstm));
  THIMBLE_CHECK(c.expect_range(attr::cell, 0, 2));
  THIMBLE_CHECK(c.expect_range(attr::c_bits, 0, 15));
  THIMBLE_CHECK(c.expect_range(attr::c0_zp, -128, 127));
  THIMBLE_CHECK(check_multiplier(c, attr::c0_multiplier));
  THIMBLE_CHECK(check_layer_zero_point(c, attr::y_zp));
  THIMBLE_CHECK(check_multiplier(c, attr::y_multiplier));
  const DType dtype = c.get(attr::cell) == 2 ? DType::kI16 : c.type(0).dtype;
  return Type{dtype, std::move(shape), {}, {}};
}

Result<Type> infer_qrnn(const InferContext& c) {
  THIMBLE_TRY(Shape shape, integer_layer(c, kRnn, 1));
  return Type{c.type(0).dtype, std::move(shape), {}, {}};
}

}  // namespace thimble::ir
