// Norms: each row is normalized by its own statistics, then scaled and shifted per element
// (docs/numerics.md, "Norms").

#include <algorithm>
#include <cmath>

#include "eval/call.h"

namespace thimble::eval {
namespace {

/// Contiguous rows of x, and the index into w and b for each element.
struct Rows {
  size_t length = 0;                // elements per row
  std::vector<size_t> coefficient;  // index into w and b, by element of x
};

Rows trailing_rows(const Call& call) {
  Rows rows;
  const ir::Shape& shape = call.shape(0);
  const auto first = shape.end() - call.get(ir::attr::last_dims);
  rows.length = static_cast<size_t>(ir::element_count(ir::Shape(first, shape.end())));
  const size_t count = static_cast<size_t>(ir::element_count(shape));
  for (size_t i = 0; i < count; ++i) rows.coefficient.push_back(i % rows.length);
  return rows;
}

Rows group_rows(const Call& call) {
  Rows rows;
  const size_t count = static_cast<size_t>(ir::element_count(call.shape(0)));
  const size_t channels = static_cast<size_t>(call.shape(0)[1]);
  const size_t plane = count / static_cast<size_t>(call.shape(0)[0]) / channels;
  rows.length = channels / static_cast<size_t>(call.get(ir::attr::groups)) * plane;
  for (size_t i = 0; i < count; ++i) rows.coefficient.push_back(i / plane % channels);
  return rows;
}

/// Centered: (x - mean) / sqrt(variance + eps) * w + b.
/// Otherwise: x / sqrt(mean of squares + eps) * w.
void float_norm(const Call& call, const Rows& rows, bool centered) {
  const auto x = call.input<float>(0);
  const double eps = call.op.get(ir::attr::eps);
  const double count = static_cast<double>(rows.length);
  for (size_t row = 0; row < x.size(); row += rows.length) {
    double mean = 0, squares = 0;
    for (size_t i = row; i < row + rows.length; ++i) mean += static_cast<double>(x[i]) / count;
    if (!centered) mean = 0;
    for (size_t i = row; i < row + rows.length; ++i) {
      const double difference = static_cast<double>(x[i]) - mean;
      squares += difference * difference;
    }
    const double deviation = std::sqrt(squares / count + eps);
    for (size_t i = row; i < row + rows.length; ++i) {
      double y = (static_cast<double>(x[i]) - mean) / deviation;
      const size_t c = rows.coefficient[i];
      if (call.has(1)) y *= static_cast<double>(call.input<float>(1)[c]);
      if (call.inputs.size() > 2 && call.has(2)) y += static_cast<double>(call.input<float>(2)[c]);
      call.result<float>()[i] = static_cast<float>(y);
    }
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

/// Returns the normalized element before the zero point is added and the bounds are applied.
int64_t normalized(const Call& call, int64_t difference, const InverseSqrt& scale,
                   size_t coefficient) {
  const int64_t k = 15 + scale.e;
  const int64_t product = difference * scale.t;
  int64_t a = k == 0 ? product : floor_divide(product + pow2(k - 1), pow2(k));
  if (call.has(1)) {
    a = floor_divide(call.input<int16_t>(1)[coefficient] * a + pow2(14), pow2(15));
  }
  if (call.inputs.size() > 2 && call.has(2)) a += call.input<int32_t>(2)[coefficient];
  return requantize(a, call.get(ir::attr::mult), call.get(ir::attr::shift), Rounding::kDouble);
}

/// `zero` is the zero point of x, `y_zero` that of the result. If `centered`, the mean of the row
/// is subtracted.
template <typename T>
void integer_norm(const Call& call, const Rows& rows, int64_t zero, int64_t y_zero, bool centered) {
  const auto x = call.input<T>(0);
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
    for (size_t i = row; i < row + rows.length; ++i) {
      const int64_t difference = n * (x[i] - zero) - mean;
      const int64_t y = normalized(call, difference, scale, rows.coefficient[i]) + y_zero;
      call.result<T>()[i] =
          static_cast<T>(clamp(y, call.get(ir::attr::min), call.get(ir::attr::max)));
    }
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
