// SPDX-License-Identifier: Apache-2.0
// Norms over the last dimensions, exact in 32-bit steps (docs/numerics.md, "Norms"):
//
//   D = n x - sum x;  V = n sum x^2 - (sum x)^2;  R = max(V + eps, 1)
//   M = R << (zeros - 1)        zeros: leading zeros of R; M is in [2^30, 2^31)
//   t = floor of 2^31 / sqrt(m) m = M, or 2 M if `zeros` is even
//   z = D * (t << zeros / 2) / 2^15, rounded;  y = z * w / 2^15 + b, requantized
//
// One Newton step from a table of 256 entries gives t or t + 1. The step that decides between the
// two compares t^2 * M with a power of two in limbs of 16 bits, because the product has 63 bits.
// All 2^31 values of (M, parity of zeros) were compared with the definition, and no step exceeds 32
// bits.

#include <cmath>

#include "engines/ethos_u/compiler/limits.h"
#include "engines/ethos_u/compiler/lowering.h"

namespace thimble::engine::ethos_u {

using ir::OpKind;

struct Lowering::NormRows {
  View x, y;  // [h, w, depth]
  int64_t zero = 0;
  bool centered = true;
  int64_t eps = 0;
  std::optional<View> w, b;  // constants of the depth
  Requantize requantize;
  int64_t low = INT8_MIN, high = INT8_MAX;
};

namespace {

constexpr int64_t kInt32Values = int64_t{1} << 31;

/// floor((a * b + 2^(shift - 1)) / 2^shift).
Requantize shifted(int32_t shift) {
  Requantize scale = unit_scale();
  scale.shift = {shift};
  return scale;
}

/// Largest square of an element.
int64_t square_max(int64_t zero) {
  const int64_t low = INT8_MIN - zero, high = INT8_MAX - zero;
  return std::max(low * low, high * high);
}

}  // namespace

/// Returns t << (zeros / 2) for t of inverse_sqrt(radicand); see the top of the file.
Result<View> Lowering::inverse_root(const View& radicand) {
  using Mode = ElementwiseMode;
  const ir::Shape& shape = radicand.shape;
  Status failed = ok();
  const auto keep = [&](Status status) {
    if (failed.ok() && !status.ok()) failed = std::move(status);
  };
  const auto step = [&](Mode mode, const View& a, const View& b, int32_t shift = 0) {
    const View y = scratch(kInt32, shape);
    keep(binary(mode, y, a, b, shifted(shift)));
    return y;
  };
  // A scalar has 16 bits.
  const auto scalar = [&](Mode mode, const View& a, int16_t b) {
    const View y = scratch(kInt32, shape);
    keep(with_scalar(mode, y, a, b));
    return y;
  };
  // The multiplier of a MUL of 32-bit operands must be an operand.
  const auto times = [&](const View& a, int32_t b, int32_t shift = 0) {
    return step(Mode::kMul, a, constant_i32(b), shift);
  };
  const auto plus = [&](const View& a, int32_t b) { return step(Mode::kAdd, a, constant_i32(b)); };
  const auto minus = [&](const View& a, const View& b) { return step(Mode::kSub, a, b); };

  const View zeros = scratch(kInt32, shape);
  keep(unary(Mode::kClz, zeros, radicand));
  const View less = scalar(Mode::kSub, zeros, 1);
  const View m = step(Mode::kShl, radicand, less);
  const View half = times(less, 1, 1);                       // zeros / 2, rounded down
  const View odd = minus(zeros, times(half, 2));             // zeros modulo 2
  const View bound = plus(times(odd, 1 << 29), 1 << 29);     // 2^30 or 2^29
  const View factor = plus(times(odd, 222379213), 1 << 29);  // 2^29.5 or 2^29

  const View index = scratch(kByte, shape);
  keep(requantize_each(index, plus(m, -(384 << 22)), shifted(22), INT8_MIN, INT8_MAX));
  const auto guess = widened(index, [](int64_t code) {
    return std::llround(std::ldexp(1 / std::sqrt(static_cast<double>(code + 384) / 512), 30));
  });
  if (!guess.ok()) return guess.error();
  const View product = step(Mode::kMul, m, step(Mode::kMul, *guess, *guess, 31), 31);
  const View correction = minus(constant_i32(3 << 29), product);
  const View root = step(Mode::kMul, *guess, correction, 30);
  const View t = step(Mode::kMin, step(Mode::kMul, root, factor, 44), constant_i32(65535));

  // t * m = high * 2^32 + middle * 2^16 + low, the lower limbs signed.
  const View m_high = times(m, 1, 16);
  const View m_low = minus(m, times(m_high, 1 << 16));
  const View t_low = step(Mode::kMul, t, m_low);
  const View carry = times(t_low, 1, 16);
  const View low = minus(t_low, times(carry, 1 << 16));
  const View upper = step(Mode::kAdd, step(Mode::kMul, t, m_high), carry);
  const View high = times(upper, 1, 16);
  const View middle = minus(upper, times(high, 1 << 16));
  // t * (t * m) <= bound * 2^32, from the lowest limb to the highest; carries are rounded up.
  const View carry_low = times(plus(step(Mode::kMul, t, low), 32767), 1, 16);
  const View sum = step(Mode::kAdd, step(Mode::kMul, t, middle), carry_low);
  const View carry_middle = times(plus(sum, 32767), 1, 16);
  const View room = minus(minus(bound, step(Mode::kMul, t, high)), carry_middle);
  const View excess = scalar(Mode::kMin, scalar(Mode::kMax, room, -1), 0);
  const View exact = step(Mode::kAdd, t, excess);
  const View result = step(Mode::kShl, exact, half);
  if (!failed.ok()) return failed.error();
  return result;
}

Status Lowering::norm_rows(const NormRows& rows) {
  const View& x = rows.x;
  const ir::Shape whole = x.shape, one = {whole[0], whole[1], 1};
  const int64_t n = whole[2], zero = rows.zero;
  THIMBLE_TRY(const View squares,
              widened(x, [=](int64_t code) { return (code - zero) * (code - zero); }));
  THIMBLE_TRY(const View square_sum, sum_rows(squares));
  View v = scratch(kInt32, one);
  THIMBLE_CHECK(
      binary(ElementwiseMode::kMul, v, square_sum, constant_i32(static_cast<int32_t>(n))));
  THIMBLE_TRY(View difference, widened(x, [=](int64_t code) { return n * (code - zero); }));
  if (rows.centered) {
    THIMBLE_TRY(const View sum, sum_rows(x.with_zero_point(0)));
    const View square = scratch(kInt32, one), less = scratch(kInt32, one),
               centered = scratch(kInt32, whole);
    THIMBLE_CHECK(binary(ElementwiseMode::kMul, square, sum, sum));
    THIMBLE_CHECK(binary(ElementwiseMode::kSub, less, v, square));
    THIMBLE_CHECK(binary(ElementwiseMode::kSub, centered, difference, sum));
    v = less;
    difference = centered;
  }
  const View with_eps = scratch(kInt32, one), radicand = scratch(kInt32, one);
  THIMBLE_CHECK(
      binary(ElementwiseMode::kAdd, with_eps, v, constant_i32(static_cast<int32_t>(rows.eps))));
  THIMBLE_CHECK(with_scalar(ElementwiseMode::kMax, radicand, with_eps, 1));
  THIMBLE_TRY(const View scale, inverse_root(radicand));
  View z = scratch(kInt32, whole);
  THIMBLE_CHECK(binary(ElementwiseMode::kMul, z, difference, scale, shifted(15)));
  if (rows.w) {
    const View scaled = scratch(kInt32, whole);
    THIMBLE_CHECK(binary(ElementwiseMode::kMul, scaled, z, *rows.w, shifted(15)));
    z = scaled;
  }
  if (rows.b) {
    const View moved = scratch(kInt32, whole);
    THIMBLE_CHECK(binary(ElementwiseMode::kAdd, moved, z, *rows.b));
    z = moved;
  }
  return requantize_each(rows.y, z, rows.requantize, rows.low, rows.high);
}

Result<View> Lowering::norm(const ir::Op& op) {
  NormRows rows;
  rows.centered = op.kind == OpKind::qlayer_norm;
  rows.zero = rows.centered ? 0 : op.get(ir::attr::x_zp);
  const auto trailing = static_cast<size_t>(op.get(ir::attr::last_dims));
  THIMBLE_TRY(View x, read(op.inputs[0]));
  const size_t outer = x.rank() - trailing;
  int64_t n = 1;
  for (size_t i = outer; i < x.rank(); ++i) n *= x.shape[i];
  const int64_t eps_shift = op.get(ir::attr::eps_shift), int_eps = op.get(ir::attr::int_eps);
  rows.eps = eps_shift < 31 ? int_eps << eps_shift : kInt32Values;
  const int64_t squares = n * n * square_max(rows.zero);
  if (n > kSizeMax || squares + rows.eps >= kInt32Values) {
    return unsupported(
        "the sums of squares of rows of {} elements need more than 31 bits; with this zero point "
        "rows of at most {} elements do not",
        n,
        static_cast<int64_t>(std::sqrt(static_cast<double>(kInt32Values) /
                                       static_cast<double>(square_max(rows.zero)))));
  }
  // Rows become the innermost axis.
  const auto in_rows = [&](const View& view) {
    View result = view;
    result.shape.resize(outer);
    result.steps.resize(outer);
    result.shape.push_back(n);
    result.steps.push_back(1);
    return result;
  };
  ir::DimOrder plain;
  for (size_t i = 0; i < x.rank(); ++i) plain.push_back(static_cast<uint8_t>(i));
  const auto contiguous = [&](const View& view) {
    int64_t step = 1;
    for (size_t i = x.rank(); i-- > outer;) {
      if (view.shape[i] > 1 && view.steps[i] != step) return false;
      step *= view.shape[i];
    }
    return true;
  };
  bool repeated = false;  // by an expand
  for (size_t i = 0; i < outer; ++i) repeated = repeated || (x.shape[i] > 1 && x.steps[i] == 0);
  if (repeated || !contiguous(x)) {
    const View dense = new_view(x.element, x.shape, plain);
    THIMBLE_CHECK(copy(dense, x));
    x = dense;
  }
  THIMBLE_TRY(const View y, result(op, &x));
  const bool aside = !contiguous(y);
  const View made = aside ? new_view(y.element, y.shape, plain) : y;
  const auto coefficients = [&]<typename T>(size_t input, T /*type*/) -> std::optional<View> {
    if (input >= op.inputs.size() || op.inputs[input] == ir::kNoValue) return std::nullopt;
    std::vector<std::byte> content;
    for (const T value : constant_of(op.inputs[input])->template data<T>()) {
      for (int byte = 0; byte < 4; ++byte) {
        content.push_back(
            static_cast<std::byte>(static_cast<uint32_t>(int32_t{value}) >> (8 * byte)));
      }
    }
    return constant(kInt32, {1, 1, n}, std::move(content));
  };
  rows.w = coefficients(1, int16_t{});
  rows.b = coefficients(2, int32_t{});
  rows.requantize = global_scale(op.get(ir::attr::mult), op.get(ir::attr::shift), false);
  rows.low = op.get(ir::attr::min);
  rows.high = op.get(ir::attr::max);

  const View from = in_rows(x), to = in_rows(made);
  const View* views[] = {&to, &from};
  std::vector<size_t> others;
  for (size_t i = 0; i < outer; ++i) others.push_back(i);
  const Shape4 wanted = program_.tensors[static_cast<size_t>(made.tensor)].shape;
  THIMBLE_TRY(const Grid grid, arrange(common_axes(views, others), wanted, 2));
  int64_t count = 1;
  for (const Axis& loop : grid.loops) count *= loop.size;
  if (count > kRowsMax) {
    return unsupported("rows repeated {} times, the limit is {}", count, kRowsMax);
  }
  THIMBLE_CHECK(for_each_loop(grid.loops, 2, [&](const std::vector<int64_t>& offsets) {
    const auto plane = [&](const View& view, size_t index) {
      View part = view;
      part.offset += offsets[index];
      part.shape = {grid.h.size, grid.w.size, n};
      part.steps = {grid.h.steps[index], grid.w.steps[index], 1};
      return part;
    };
    rows.y = plane(to, 0).with_zero_point(op.get(ir::attr::y_zp));
    rows.x = plane(from, 1);
    return norm_rows(rows);
  }));
  if (aside) THIMBLE_CHECK(copy(y, made));
  return y;
}

}  // namespace thimble::engine::ethos_u
