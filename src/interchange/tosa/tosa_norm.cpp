// SPDX-License-Identifier: Apache-2.0
// Norms and variances in int32 operators (docs/numerics.md, "Norms").
//
// n^2 times the variance needs up to 59 bits. It is stored as high * 2^28 + low. Partial sums use
// digits of 14 bits and therefore fit 32 bits; carries are arithmetic shifts.

#include <algorithm>

#include "interchange/tosa/tosa_lowering.h"

namespace thimble::interchange {

using formats::tosa::Op;
using ir::DimOrder;
using ir::OpKind;
using ir::Shape;

namespace {

constexpr int64_t kRowMax = 1 << 14;
constexpr int kDigit = 14;
constexpr int32_t kDigitMask = (1 << kDigit) - 1;

int bits_of(uint64_t value) {
  int bits = 0;
  while (value != 0) {
    value /= 2;
    ++bits;
  }
  return bits;
}

/// The number high * 2^28 + low, one per row.
struct SplitInt {
  int high = -1, low = -1;
};

/// Returns n * (sum of squares) - (sum)^2 + extra for each row of x [rows, n]; must be below 2^59.
/// The term (sum)^2 is omitted if not `centered`.
SplitInt scaled_variance(TosaBuilder& b, int x, bool centered, uint64_t extra) {
  const auto n = static_cast<int32_t>(b.shape(x)[1]);
  const int squares = b.reduce(Op::kReduceSum, b.mul(x, x), 1);
  int digit0 = b.times(b.masked(squares, kDigitMask), n);
  int digit1 = b.times(b.down(squares, kDigit), n);
  int digit2 = b.times(digit0, 0);
  if (centered) {
    const int sum = b.unary(Op::kAbs, b.reduce(Op::kReduceSum, x, 1));
    const int low = b.masked(sum, kDigitMask), high = b.down(sum, kDigit);
    digit0 = b.sub(digit0, b.mul(low, low));
    digit1 = b.sub(digit1, b.times(b.mul(low, high), 2));
    digit2 = b.sub(digit2, b.mul(high, high));
  }
  digit0 = b.plus(digit0, static_cast<int32_t>(extra & kDigitMask));
  digit1 = b.plus(digit1, static_cast<int32_t>((extra >> kDigit) & kDigitMask));
  digit2 = b.plus(digit2, static_cast<int32_t>(extra >> (2 * kDigit)));
  digit1 = b.add(digit1, b.down(digit0, kDigit));
  const int high = b.add(digit2, b.down(digit1, kDigit));
  const int low = b.add(b.masked(digit0, kDigitMask), b.up(b.masked(digit1, kDigitMask), kDigit));
  return {high, low};
}

/// Returns 1 if t * t * m <= 2^62, else 0. m is unsigned and split into digits of 12 bits, so that
/// t * digit fits 32 bits.
int root_fits(TosaBuilder& b, int t, int m) {
  constexpr int32_t kMask = 0xFFF, kLimit = 1 << 26;
  int carry = b.mul(t, b.masked(m, kMask));
  std::vector<int> digits = {b.masked(carry, kMask)};
  carry = b.add(b.mul(t, b.masked(b.down_unsigned(m, 12), kMask)), b.down(carry, 12));
  digits.push_back(b.masked(carry, kMask));
  carry = b.add(b.mul(t, b.down_unsigned(m, 24)), b.down(carry, 12));
  digits.push_back(b.masked(carry, kMask));
  digits.push_back(b.down(carry, 12));
  // Computes t * t * m - 1 from the lowest digit up; only the bits from 2^36 on are compared.
  int top = b.down(b.plus(b.mul(t, digits[0]), -1), 12);
  top = b.down(b.add(b.mul(t, digits[1]), top), 12);
  top = b.down(b.add(b.mul(t, digits[2]), top), 12);
  top = b.add(b.mul(t, digits[3]), top);
  const int fits = b.greater(b.same_rank(top, kLimit), top);
  return b.select(fits, b.same_rank(top, 1), b.same_rank(top, 0));
}

/// numerics::inverse_sqrt of one number per row.
struct Root {
  int t = -1, e = -1;
};

Root inverse_sqrt(TosaBuilder& b, const SplitInt& r) {
  const int zero = b.same_rank(r.high, 0);
  const int bits_high = b.sub(b.same_rank(zero, 60), b.unary(Op::kClz, r.high));
  const int bits_low = b.sub(b.same_rank(zero, 32), b.unary(Op::kClz, r.low));
  const int bits = b.select(b.greater(r.high, zero), bits_high, bits_low);
  const int e = b.plus(b.down(b.plus(bits, 1), 1), -16);
  // m = number / 4^e: both parts are shifted left or right, depending on the sign of e.
  const int twice = b.add(e, e);
  const auto shift = [&](int by) { return b.min_scalar(b.max_scalar(by, 0), 31); };
  const int minus = b.sub(zero, twice);
  const int high =
      b.unsigned_right(b.shift_left(r.high, shift(b.plus(minus, 28))), shift(b.plus(twice, -28)));
  const int low = b.unsigned_right(b.shift_left(r.low, shift(minus)), shift(twice));
  const int m = b.binary(Op::kBitwiseOr, high, low);
  // t has 16 bits with the top bit set. Each step determines five more bits: it counts the
  // candidates that fit.
  int t = b.tile(b.same_rank(m, 1 << 15), b.shape(m));
  for (const int32_t step : {1024, 32, 1}) {
    std::vector<int32_t> offsets;
    for (int32_t i = 1; i < 32; ++i) offsets.push_back(i * step);
    const int candidates = b.add(t, b.constants32({1, 31}, offsets));
    const int count = b.reduce(Op::kReduceSum, root_fits(b, candidates, m), 1);
    t = b.add(t, b.times(count, step));
  }
  return {t, e};
}

}  // namespace

Status TosaLowering::norm() {
  if (wide()) return refuse("16-bit activations: their sums of squares need more than 59 bits");
  const bool groups = op_->kind == OpKind::qgroup_norm;
  const bool centered = op_->kind != OpKind::qrms_norm;
  const Shape& s = shape(0);
  const int64_t count = ir::element_count(s);
  const int64_t channels = groups ? s[1] : 1;
  int64_t n = 1;
  if (groups) {
    n = count / s[0] / get(ir::attr::groups);
  } else {
    n = ir::element_count(Shape(s.end() - get(ir::attr::last_dims), s.end()));
  }
  const int64_t rows = count / n;
  if (n > kRowMax) return refuse("rows of more than 16384 elements");
  const auto extra = static_cast<uint64_t>(get(ir::attr::int_eps)) << get(ir::attr::eps_shift);
  const auto length = static_cast<uint64_t>(n);
  const uint64_t most = length * length * (centered ? 1 << 14 : 1 << 16) + extra;
  // The difference is shifted left so that the product needs only one constant shift, `steps`.
  const int steps = 29 - (bits_of(length - 1) + 1) / 2;
  const int k_max = 15 + (bits_of(most) + 1) / 2 - 16;
  if (bits_of(extra) > 58 || k_max > steps) {
    return refuse(
        "eps is too large relative to the quantized values: the sum needs more than 59 bits");
  }
  const int x =
      b_.reshape(b_.widen(logical(0), centered ? 0 : zero_point(ir::attr::x_zp)), {rows, n});
  SplitInt r = scaled_variance(b_, x, centered, extra);
  if (extra == 0) {
    const int empty = b_.equal(r.high, b_.same_rank(r.high, 0));
    r.low = b_.select(empty, b_.max_scalar(r.low, 1), r.low);
  }
  const Root root = inverse_sqrt(b_, r);
  int difference = b_.times(x, static_cast<int32_t>(n));
  if (centered) difference = b_.sub(difference, b_.reduce(Op::kReduceSum, x, 1));
  const int left = b_.sub(b_.same_rank(root.e, steps - 15), root.e);
  int a = b_.mul(b_.shift_left(difference, left), root.t, steps);
  const auto coefficients = [&](size_t i) -> std::vector<int32_t> {
    const ir::Tensor& tensor = *graph_.value(operand(i)).constant;
    const int64_t plane = groups ? count / s[0] / channels : 1;
    const int64_t period = groups ? channels : n;
    std::vector<int32_t> values;
    for (int64_t at = 0; at < (groups ? count : n); ++at) {
      const auto c = static_cast<size_t>(at / plane % period);
      values.push_back(tensor.dtype == ir::DType::kI16 ? tensor.data<int16_t>()[c]
                                                       : tensor.data<int32_t>()[c]);
    }
    return values;
  };
  const Shape entries = {groups ? rows : 1, n};
  if (has(1)) {
    THIMBLE_CHECK(check_constant(1));
    a = b_.mul(a, b_.constants32(entries, coefficients(1)), 15);
  }
  if (has(2)) {
    THIMBLE_CHECK(check_constant(2));
    a = b_.add(a, b_.constants32(entries, coefficients(2)));
  }
  return put(b_.reshape(requantized(a, {multiplier()}), s));
}

Status TosaLowering::variance() {
  if (wide()) return refuse("16-bit activations: their sums of squares need more than 59 bits");
  const Shape& s = shape(0);
  const auto& dims = get(ir::attr::dims);
  const DimOrder order = order_with_last(dims);
  int64_t n = 1;
  for (const int64_t dim : dims) n *= s[static_cast<size_t>(dim)];
  if (n > kRowMax) return refuse("rows of more than 16384 elements");
  const int64_t rows = ir::element_count(s) / n;
  const int x = b_.reshape(b_.widen(operand_in(0, order)), {rows, n});
  const SplitInt v = scaled_variance(b_, x, true, 0);
  const int dropped = std::max(0, 2 * bits_of(static_cast<uint64_t>(n - 1)) - 16);
  const int kept =
      b_.binary(Op::kBitwiseOr, b_.up(v.high, 28 - dropped), b_.down_unsigned(v.low, dropped));
  Rescaling r{{multiplier()}, 0, static_cast<int32_t>(zero_point(ir::attr::y_zp)), result_type()};
  const int y = b_.clamp(b_.rescale(kept, r), get(ir::attr::min), get(ir::attr::max));
  return put(b_.reshape(y, result_shape()));
}

}  // namespace thimble::interchange
