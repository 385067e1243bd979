// SPDX-License-Identifier: Apache-2.0
// Known integers: arithmetic, comparisons, logic and selection, element by element.

#include <algorithm>

#include "import/integer_array.h"

namespace thimble::import_pt2::integers {
namespace {

namespace pt2 = formats::pt2;

using Binary = int64_t (*)(int64_t, int64_t);
using Unary = int64_t (*)(int64_t);

Folded elementwise(const Reader& in, Binary f, std::string_view a_name = "self",
                   std::string_view b_name = "other") {
  const auto a = in.operand(a_name), b = in.operand(b_name);
  if (!a || !b) return std::optional<Array>();
  const auto shape = in.joint_shape(a->shape, b->shape);
  if (!shape) return std::optional<Array>();
  Array result{*shape, broadcast(*a, *shape)};
  const std::vector<int64_t> right = broadcast(*b, *shape);
  for (size_t i = 0; i < right.size(); ++i) result.values[i] = f(result.values[i], right[i]);
  return std::optional(std::move(result));
}

/// self + alpha * other, with other signs.
template <int kSelf, int kOther>
Folded sum(const Reader& in) {
  const auto alpha = in.call().any_integer("alpha", 1);
  if (!alpha.ok() || (*alpha != 1 && kSelf < 0)) return std::optional<Array>();
  auto a = in.operand("self"), b = in.operand("other");
  if (!a || !b) return std::optional<Array>();
  const auto shape = in.joint_shape(a->shape, b->shape);
  if (!shape) return std::optional<Array>();
  Array result{*shape, broadcast(*a, *shape)};
  const std::vector<int64_t> right = broadcast(*b, *shape);
  for (size_t i = 0; i < right.size(); ++i) {
    const int64_t left = kSelf < 0 ? negate(result.values[i]) : result.values[i];
    const int64_t scaled = multiply(*alpha, right[i]);
    result.values[i] = kOther < 0 ? subtract(left, scaled) : add(left, scaled);
  }
  return std::optional(std::move(result));
}

template <Binary f>
Folded binary(const Reader& in) {
  return elementwise(in, f);
}

/// As binary(); a divisor must not be 0, an exponent must not be negative.
template <Binary f>
Folded divided(const Reader& in) {
  const auto b = in.operand("other");
  if (!b || std::ranges::find(b->values, 0) != b->values.end()) return std::optional<Array>();
  return elementwise(in, f);
}
Folded divided_by_mode(const Reader& in) {
  const auto mode = in.call().text("rounding_mode", std::string());
  if (!mode.ok()) return std::optional<Array>();
  if (*mode == "floor") return divided<floor_divide>(in);
  if (*mode == "trunc") return divided<divide>(in);
  return std::optional<Array>();
}
Folded raised(const Reader& in) {
  const auto exponent = in.operand("exponent");
  if (!exponent || std::ranges::min(exponent->values) < 0) return std::optional<Array>();
  return elementwise(in, power, "self", "exponent");
}

template <Unary f>
Folded unary(const Reader& in) {
  auto x = in.operand("self");
  if (!x) return std::optional<Array>();
  for (int64_t& value : x->values) value = f(value);
  return x;
}

Folded where(const Reader& in) {
  const auto condition = in.operand("condition"), a = in.operand("self"), b = in.operand("other");
  if (!condition || !a || !b) return std::optional<Array>();
  auto shape = in.joint_shape(a->shape, b->shape);
  if (shape) shape = in.joint_shape(*shape, condition->shape);
  if (!shape) return std::optional<Array>();
  Array result{*shape, broadcast(*a, *shape)};
  const std::vector<int64_t> other = broadcast(*b, *shape);
  const std::vector<int64_t> chosen = broadcast(*condition, *shape);
  for (size_t i = 0; i < other.size(); ++i) {
    if (chosen[i] == 0) result.values[i] = other[i];
  }
  return std::optional(std::move(result));
}

Folded masked_fill(const Reader& in) {
  auto x = in.operand("self");
  const auto mask = in.operand("mask"), value = in.operand("value");
  if (!x || !mask || !value || value->values.size() != 1) return std::optional<Array>();
  const auto shape = in.joint_shape(x->shape, mask->shape);
  if (!shape) return std::optional<Array>();
  Array result{*shape, broadcast(*x, *shape)};
  const std::vector<int64_t> masked = broadcast(*mask, *shape);
  for (size_t i = 0; i < masked.size(); ++i) {
    if (masked[i] != 0) result.values[i] = value->values[0];
  }
  return std::optional(std::move(result));
}

Folded clamp(const Reader& in) {
  auto x = in.operand("self");
  if (!x) return std::optional<Array>();
  for (const bool low : {true, false}) {
    const std::string_view name = low ? "min" : "max";
    if (!in.has(name)) continue;
    const auto bound = in.operand(name);
    if (!bound || bound->values.size() != 1) return std::optional<Array>();
    for (int64_t& value : x->values) {
      value = low ? std::max(value, bound->values[0]) : std::min(value, bound->values[0]);
    }
  }
  return x;
}

int64_t equal(int64_t a, int64_t b) {
  return a == b ? 1 : 0;
}
int64_t not_equal(int64_t a, int64_t b) {
  return a != b ? 1 : 0;
}
int64_t less(int64_t a, int64_t b) {
  return a < b ? 1 : 0;
}
int64_t less_equal(int64_t a, int64_t b) {
  return a <= b ? 1 : 0;
}
int64_t greater(int64_t a, int64_t b) {
  return a > b ? 1 : 0;
}
int64_t greater_equal(int64_t a, int64_t b) {
  return a >= b ? 1 : 0;
}
int64_t both_bits(int64_t a, int64_t b) {
  return a & b;
}
int64_t either_bit(int64_t a, int64_t b) {
  return a | b;
}
int64_t one_bit(int64_t a, int64_t b) {
  return a ^ b;
}
/// Shifts by less than 0 or by all bits are those of PyTorch.
int64_t shift_left(int64_t a, int64_t bits) {
  return bits < 0 || bits > 63 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) << bits);
}
int64_t shift_right(int64_t a, int64_t bits) {
  return a >> (bits < 0 || bits > 63 ? 63 : bits);
}
int64_t one_of(int64_t a, int64_t b) {
  return (a != 0) != (b != 0) ? 1 : 0;
}
int64_t magnitude(int64_t a) {
  return a < 0 ? negate(a) : a;
}
int64_t sign(int64_t a) {
  return a < 0 ? -1 : a > 0 ? 1 : 0;
}
int64_t is_zero(int64_t a) {
  return a == 0 ? 1 : 0;
}
int64_t flipped_bits(int64_t a) {
  return ~a;
}

Folded bitwise_not(const Reader& in) {
  const auto* meta = in.call().result_meta();
  const bool truth = meta != nullptr && meta->dtype == pt2::ScalarType::kBool;
  return truth ? unary<is_zero>(in) : unary<flipped_bits>(in);
}

constexpr FoldRow kArithmetic[] = {
    {"aten.__and__.Scalar", binary<both_bits>},
    {"aten.__and__.Tensor", binary<both_bits>},
    {"aten.__lshift__.Scalar", binary<shift_left>},
    {"aten.__lshift__.Tensor", binary<shift_left>},
    {"aten.__or__.Scalar", binary<either_bit>},
    {"aten.__or__.Tensor", binary<either_bit>},
    {"aten.__rshift__.Scalar", binary<shift_right>},
    {"aten.__rshift__.Tensor", binary<shift_right>},
    {"aten.__xor__.Scalar", binary<one_bit>},
    {"aten.__xor__.Tensor", binary<one_bit>},
    {"aten.abs.default", unary<magnitude>},
    {"aten.add.Scalar", sum<1, 1>},
    {"aten.add.Tensor", sum<1, 1>},
    {"aten.bitwise_and.Scalar", binary<both_bits>},
    {"aten.bitwise_and.Tensor", binary<both_bits>},
    {"aten.bitwise_left_shift.Scalar_Tensor", binary<shift_left>},
    {"aten.bitwise_left_shift.Tensor", binary<shift_left>},
    {"aten.bitwise_left_shift.Tensor_Scalar", binary<shift_left>},
    {"aten.bitwise_not.default", bitwise_not},
    {"aten.bitwise_or.Scalar", binary<either_bit>},
    {"aten.bitwise_or.Tensor", binary<either_bit>},
    {"aten.bitwise_right_shift.Scalar_Tensor", binary<shift_right>},
    {"aten.bitwise_right_shift.Tensor", binary<shift_right>},
    {"aten.bitwise_right_shift.Tensor_Scalar", binary<shift_right>},
    {"aten.bitwise_xor.Scalar", binary<one_bit>},
    {"aten.bitwise_xor.Tensor", binary<one_bit>},
    {"aten.clamp.default", clamp},
    {"aten.clamp_max.default", clamp},
    {"aten.clamp_min.default", clamp},
    {"aten.div.Scalar_mode", divided_by_mode},
    {"aten.div.Tensor_mode", divided_by_mode},
    {"aten.eq.Scalar", binary<equal>},
    {"aten.eq.Tensor", binary<equal>},
    {"aten.floor_divide.Scalar", divided<floor_divide>},
    {"aten.floor_divide.default", divided<floor_divide>},
    {"aten.fmod.Scalar", divided<rest>},
    {"aten.ge.Scalar", binary<greater_equal>},
    {"aten.ge.Tensor", binary<greater_equal>},
    {"aten.gt.Scalar", binary<greater>},
    {"aten.gt.Tensor", binary<greater>},
    {"aten.le.Scalar", binary<less_equal>},
    {"aten.le.Tensor", binary<less_equal>},
    {"aten.logical_and.default", binary<both>},
    {"aten.logical_not.default", unary<is_zero>},
    {"aten.logical_or.default", binary<either>},
    {"aten.logical_xor.default", binary<one_of>},
    {"aten.lt.Scalar", binary<less>},
    {"aten.lt.Tensor", binary<less>},
    {"aten.masked_fill.Scalar", masked_fill},
    {"aten.masked_fill.Tensor", masked_fill},
    {"aten.max.other", binary<larger>},
    {"aten.maximum.default", binary<larger>},
    {"aten.min.other", binary<smaller>},
    {"aten.minimum.default", binary<smaller>},
    {"aten.mul.Scalar", binary<multiply>},
    {"aten.mul.Tensor", binary<multiply>},
    {"aten.ne.Scalar", binary<not_equal>},
    {"aten.ne.Tensor", binary<not_equal>},
    {"aten.neg.default", unary<negate>},
    {"aten.pow.Tensor_Scalar", raised},
    {"aten.pow.Tensor_Tensor", raised},
    {"aten.remainder.Scalar", divided<floor_rest>},
    {"aten.remainder.Tensor", divided<floor_rest>},
    {"aten.rsub.Scalar", sum<-1, 1>},
    {"aten.rsub.Tensor", sum<-1, 1>},
    {"aten.sgn.default", unary<sign>},
    {"aten.sign.default", unary<sign>},
    {"aten.sub.Scalar", sum<1, -1>},
    {"aten.sub.Tensor", sum<1, -1>},
    {"aten.where.Scalar", where},
    {"aten.where.ScalarOther", where},
    {"aten.where.ScalarSelf", where},
    {"aten.where.self", where},
};

}  // namespace

std::span<const FoldRow> arithmetic_folds() {
  return kArithmetic;
}

}  // namespace thimble::import_pt2::integers
