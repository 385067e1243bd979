// SPDX-License-Identifier: Apache-2.0
// Norms: each row is normalized by its own statistics, then scaled and shifted per element
// (docs/numerics.md, "Norms").

#include <algorithm>
#include <cmath>
#include <span>

#include "eval/call.h"

namespace thimble::eval {
namespace {

/// Contiguous rows of x. Element i has coefficient i / plane % coefficients of w and b.
struct Rows {
  size_t length = 0;  // elements per row
  size_t plane = 1;   // consecutive elements with the same coefficient
  size_t coefficients = 0;

  /// Calls visit(element, coefficient) for each element of the row that starts at `first`.
  template <typename Visit>
  void for_each(size_t first, Visit visit) const {
    for (size_t i = first; i < first + length; i += plane) {
      const size_t coefficient = i / plane % coefficients;
      for (size_t k = i; k < i + plane; ++k) visit(k, coefficient);
    }
  }
};

Rows trailing_rows(const Call& call) {
  const ir::Shape& shape = call.shape(0);
  const auto first = shape.end() - call.get(ir::attr::last_dims);
  const auto length = static_cast<size_t>(ir::element_count(ir::Shape(first, shape.end())));
  return {length, 1, length};
}

Rows group_rows(const Call& call) {
  const size_t count = static_cast<size_t>(ir::element_count(call.shape(0)));
  const size_t channels = static_cast<size_t>(call.shape(0)[1]);
  const size_t plane = count / static_cast<size_t>(call.shape(0)[0]) / channels;
  return {channels / static_cast<size_t>(call.get(ir::attr::groups)) * plane, plane, channels};
}

/// Returns operand `index`, or nothing if it is absent.
template <typename T>
std::span<const T> optional_input(const Call& call, size_t index) {
  return index < call.inputs.size() && call.has(index) ? call.input<T>(index)
                                                       : std::span<const T>();
}

/// Centered: (x - mean) / sqrt(variance + eps) * w + b.
/// Otherwise: x / sqrt(mean of squares + eps) * w.
void float_norm(const Call& call, const Rows& rows, bool centered) {
  const auto x = call.input<float>(0);
  const auto w = optional_input<float>(call, 1);
  const auto b = optional_input<float>(call, 2);
  const auto result = call.result<float>();
  const double eps = call.op.get(ir::attr::eps);
  const double count = static_cast<double>(rows.length);
  for (size_t row = 0; row < x.size(); row += rows.length) {
    double mean = 0, squares = 0;
    if (centered) {
      for (const float value : x.subspan(row, rows.length)) {
        mean += static_cast<double>(value) / count;
      }
    }
    for (const float value : x.subspan(row, rows.length)) {
      const double difference = static_cast<double>(value) - mean;
      squares += difference * difference;
    }
    const double deviation = std::sqrt(squares / count + eps);
    rows.for_each(row, [&](size_t i, size_t c) {
      double y = (static_cast<double>(x[i]) - mean) / deviation;
      if (!w.empty()) y *= static_cast<double>(w[c]);
      if (!b.empty()) y += static_cast<double>(b[c]);
      result[i] = static_cast<float>(y);
    });
  }
}

struct InverseSqrt {
  int64_t t = 0, e = 0;
};

InverseSqrt inverse_sqrt(int64_t radicand) {
  InverseSqrt result{0, -15};
  int64_t m = 0;
  const auto fits = [&] {
    // radicand * 4^15 fits 64 bits only for a small radicand, and only then can e be negative.
    if (result.e < 0 && radicand >= pow2(32)) return false;
    m = result.e < 0 ? radicand * pow2(-2 * result.e) : radicand / pow2(2 * result.e);
    return m < pow2(32);
  };
  while (!fits()) ++result.e;
  int64_t above = 65536;  // exclusive upper bound: t is in [result.t, above)
  while (above - result.t > 1) {
    const int64_t middle = (result.t + above) / 2;
    const uint64_t product =
        static_cast<uint64_t>(middle * middle) * static_cast<uint64_t>(m);  // below 2^64
    (product <= uint64_t{1} << 62 ? result.t : above) = middle;
  }
  return result;
}

/// Exact sums over a row.
struct Sums {
  int64_t codes = 0, squares = 0;
};

/// Operands and attributes of an integer norm, read once.
struct Coefficients {
  std::span<const int16_t> w;
  std::span<const int32_t> b;
  int64_t mult, shift;

  explicit Coefficients(const Call& call)
      : w(optional_input<int16_t>(call, 1)),
        b(optional_input<int32_t>(call, 2)),
        mult(call.get(ir::attr::mult)),
        shift(call.get(ir::attr::shift)) {}

  /// Returns the normalized element before the zero point is added and the bounds are applied.
  [[nodiscard]] int64_t normalized(int64_t difference, const InverseSqrt& scale, size_t c) const {
    const int64_t k = 15 + scale.e;
    const int64_t product = difference * scale.t;
    int64_t a = k == 0 ? product : floor_divide(product + pow2(k - 1), pow2(k));
    if (!w.empty()) a = floor_divide(w[c] * a + pow2(14), pow2(15));
    if (!b.empty()) a += b[c];
    return requantize(a, mult, shift, Rounding::kDouble);
  }
};

/// `zero` is the zero point of x, `y_zero` that of the result. If `centered`, the mean of the row
/// is subtracted.
template <typename T>
void integer_norm(const Call& call, const Rows& rows, int64_t zero, int64_t y_zero, bool centered) {
  const auto x = call.input<T>(0);
  const auto result = call.result<T>();
  const Coefficients coefficients(call);
  const int64_t low = call.get(ir::attr::min), high = call.get(ir::attr::max);
  const int64_t n = static_cast<int64_t>(rows.length);
  const int64_t eps = call.get(ir::attr::int_eps) * pow2(call.get(ir::attr::eps_shift));
  for (size_t row = 0; row < x.size(); row += rows.length) {
    Sums sums;
    for (size_t i = row; i < row + rows.length; ++i) {
      const int64_t code = x[i] - zero;
      sums.codes += code;
      sums.squares += code * code;
    }
    const int64_t mean = centered ? sums.codes : 0;  // n * mean
    const int64_t v = n * sums.squares - mean * mean;
    const InverseSqrt scale = inverse_sqrt(std::max<int64_t>(v + eps, 1));
    rows.for_each(row, [&](size_t i, size_t c) {
      const int64_t difference = n * (x[i] - zero) - mean;
      const int64_t y = coefficients.normalized(difference, scale, c) + y_zero;
      result[i] = static_cast<T>(clamp(y, low, high));
    });
  }
}

}  // namespace

void eval_group_norm(const Call& call) {
  float_norm(call, group_rows(call), /*centered=*/true);
}
void eval_layer_norm(const Call& call) {
  float_norm(call, trailing_rows(call), /*centered=*/true);
}
void eval_rms_norm(const Call& call) {
  float_norm(call, trailing_rows(call), /*centered=*/false);
}

void eval_qgroup_norm(const Call& call) {
  integer_norm<int8_t>(call, group_rows(call), 0, call.get(ir::attr::y_zp), /*centered=*/true);
}
void eval_qlayer_norm(const Call& call) {
  integer_norm<int8_t>(call, trailing_rows(call), 0, call.get(ir::attr::y_zp), /*centered=*/true);
}
void eval_qrms_norm(const Call& call) {
  integer_norm<int8_t>(call, trailing_rows(call), call.get(ir::attr::x_zp),
                       call.get(ir::attr::y_zp),
                       /*centered=*/false);
}

void eval_qgroup_norm16(const Call& call) {
  integer_norm<int16_t>(call, group_rows(call), 0, 0, /*centered=*/true);
}
void eval_qlayer_norm16(const Call& call) {
  integer_norm<int16_t>(call, trailing_rows(call), 0, 0, /*centered=*/true);
}
void eval_qrms_norm16(const Call& call) {
  integer_norm<int16_t>(call, trailing_rows(call), 0, 0, /*centered=*/false);
}

}  // namespace thimble::eval
