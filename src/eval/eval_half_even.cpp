// SPDX-License-Identifier: Apache-2.0
// Functions of fixed-point numbers with 12 fractional bits (docs/numerics.md, "Halves to even").

#include <algorithm>
#include <cmath>
#include <vector>

#include "eval/call.h"

namespace thimble::eval {
namespace {

constexpr double kUnit = 0x1p-12;
constexpr int64_t kDistanceMax = 65536;  // distance 16.0, from which e^-distance counts as 0

/// y = round(scale * f(x)) + zero_point, where f is computed in double.
template <typename F>
void from_12_bits(const Call& call, double scale, int64_t zero_point, F f) {
  const auto x = call.input<int16_t>(0);
  for (size_t i = 0; i < x.size(); ++i) {
    const int64_t code = round_half_even(scale * f(x[i] * kUnit)) + zero_point;
    call.result<int8_t>()[i] = static_cast<int8_t>(clamp(code, INT8_MIN, INT8_MAX));
  }
}

int64_t power_of_e(double exponent) {
  return round_half_even(0x1p31 * std::exp(exponent));
}

/// Returns e^-distance in Q0.31 as a product of three table entries.
int64_t exp_of_distance(int64_t distance) {
  if (distance >= kDistanceMax) return 0;
  const int64_t whole = distance / 4096;
  const int64_t sixty_fourths = distance / 64 % 64;
  const int64_t rest = distance % 64;
  const int64_t product = multiply_q31(power_of_e(-static_cast<double>(whole)),
                                       power_of_e(-static_cast<double>(sixty_fourths) / 64));
  return multiply_q31(product, power_of_e(-static_cast<double>(rest) / 4096));
}

}  // namespace

void eval_qsigmoid12(const Call& call) {
  from_12_bits(call, 256, -128, [](double x) { return 1 / (1 + std::exp(-x)); });
}
void eval_qtanh12(const Call& call) {
  from_12_bits(call, 128, 0, [](double x) { return std::tanh(x); });
}

void eval_qsoftmax12(const Call& call) {
  const size_t dim = static_cast<size_t>(call.get(ir::attr::dim));
  const size_t length = static_cast<size_t>(call.shape(0)[dim]);
  const auto x = call.input<int32_t>(0);
  std::vector<int64_t> powers(length);
  for_each_row(call.shape(0), dim, [&](size_t first, size_t step) {
    int64_t maximum = INT32_MIN;
    for (size_t i = 0; i < length; ++i) {
      maximum = std::max<int64_t>(maximum, x[first + i * step]);
    }
    int64_t sum = 0;
    for (size_t i = 0; i < length; ++i) {
      powers[i] = exp_of_distance(std::min(maximum - x[first + i * step], kDistanceMax));
      sum += powers[i];
    }
    for (size_t i = 0; i < length; ++i) {
      const int64_t code = floor_divide(512 * powers[i] + sum, 2 * sum) - 128;
      call.result<int8_t>()[first + i * step] = static_cast<int8_t>(std::min<int64_t>(code, 127));
    }
  });
}

}  // namespace thimble::eval
