// SPDX-License-Identifier: Apache-2.0
#include "quant/fast/stable_math.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace thimble::quant {
namespace {

// ln 2 in two parts. The first part has 21 spare bits, so its product with an exponent is exact.
constexpr double kLn2High = 0x1.62e42feep-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
constexpr double kLog2E = 1.4426950408889634;

// exp(x) is infinite above kExpMost and 0 below kExpLeast.
constexpr double kExpMost = 709.0, kExpLeast = -745.0;
constexpr int kExpTerms = 14;  // of the Taylor series for |x| <= ln 2 / 2

constexpr double kErfOne = 6;  // erf(x) rounds to 1 in double for x >= 6
constexpr double kTwoOverRootPi = 1.1283791670955126;
constexpr double kErfRest = 1e-18;  // terms below this share of the sum do not change it

// pi / 2 in three parts. Products of the first two parts with 20-bit integers are exact.
constexpr double kQuarterTurn[] = {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69};

/// Returns sin(x) for |x| <= pi / 4: Taylor series in Horner form.
double short_sin(double x) {
  double sum = 1;
  for (int n = 18; n >= 2; n -= 2) sum = 1 - sum * (x * x) / (n * (n + 1));
  return x * sum;
}
double short_cos(double x) {
  double sum = 1;
  for (int n = 17; n >= 1; n -= 2) sum = 1 - sum * (x * x) / (n * (n + 1));
  return sum;
}

/// Returns sin(x + turns * pi / 2).
double turned_sin(double x, int64_t turns) {
  if (!std::isfinite(x)) return std::numeric_limits<double>::quiet_NaN();
  const double quarters = std::floor(x * 0.63661977236758134 + 0.5);
  const double rest =
      ((x - quarters * kQuarterTurn[0]) - quarters * kQuarterTurn[1]) - quarters * kQuarterTurn[2];
  turns += static_cast<int64_t>(std::fmod(quarters, 4.0)) + 4;
  const double value = turns % 2 == 0 ? short_sin(rest) : short_cos(rest);
  return turns / 2 % 2 == 0 ? value : -value;
}

bool is_odd(double whole) {
  return std::fmod(std::fabs(whole), 2.0) == 1;
}

// Functions of arrays compute kFunctionLanes elements at a time, with the operations of the
// functions of one element, which Eigen maps to vector instructions.
constexpr int kFunctionLanes = 8;
using Lanes = Eigen::Array<double, kFunctionLanes, 1>;

bool all_within(const Lanes& x, double low, double high) {
  bool within = true;
  for (int i = 0; i < kFunctionLanes; ++i) within = within && x[i] >= low && x[i] <= high;
  return within;
}

Lanes exp_lanes(const Lanes& x) {
  constexpr double kLeast = -708;  // results above are not subnormal
  Lanes power;
  if (!all_within(x, kLeast, kExpMost)) {
    for (int i = 0; i < kFunctionLanes; ++i) power[i] = stable_exp(x[i]);
    return power;
  }
  const Lanes exponent = (x * kLog2E + 0.5).floor();
  const Lanes rest = (x - exponent * kLn2High) - exponent * kLn2Low;
  Lanes sum = Lanes::Ones();
  for (int n = kExpTerms; n >= 1; --n) sum = sum * (rest / static_cast<double>(n)) + 1.0;
  for (int i = 0; i < kFunctionLanes; ++i) {
    // 2^exponent: the exponent field of a double starts at bit 52.
    const uint64_t bits = static_cast<uint64_t>(static_cast<int32_t>(exponent[i]) + 1023) << 52;
    std::memcpy(&power[i], &bits, sizeof(bits));
  }
  return sum * power;
}

Lanes erf_lanes(const Lanes& x) {
  Lanes y;
  if (!all_within(x, -kErfOne, kErfOne)) {
    for (int i = 0; i < kFunctionLanes; ++i) y[i] = stable_erf(x[i]);
    return y;
  }
  const Lanes magnitude = x.abs();
  const Lanes factor = 2 * magnitude * magnitude;
  Lanes term = magnitude;
  Lanes sum = Lanes::Zero();
  // Terms after the last one of a lane do not change its sum.
  for (int n = 1; (term - sum * kErfRest).maxCoeff() > 0; n += 2) {
    sum += term;
    term *= factor / static_cast<double>(n + 2);
  }
  const Lanes series = kTwoOverRootPi * exp_lanes(-magnitude * magnitude) * sum;
  for (int i = 0; i < kFunctionLanes; ++i) {
    const double value = magnitude[i] >= kErfOne ? 1.0 : std::min(series[i], 1.0);
    y[i] = x[i] < 0 ? -value : value;
  }
  return y;
}

Lanes tanh_lanes(const Lanes& x) {
  const Lanes e = exp_lanes(2 * x);
  Lanes y = (e - 1.0) / (e + 1.0);
  for (int i = 0; i < kFunctionLanes; ++i) y[i] = x[i] > 20 ? 1 : x[i] < -20 ? -1 : y[i];
  return y;
}

Lanes sigmoid_lanes(const Lanes& x) {
  return 1.0 / (exp_lanes(-x) + 1.0);
}

template <typename F>
void by_lanes(std::span<double> values, F f) {
  size_t i = 0;
  for (; i + kFunctionLanes <= values.size(); i += kFunctionLanes) {
    Eigen::Map<Lanes>(values.data() + i) = f(Eigen::Map<const Lanes>(values.data() + i));
  }
  if (i == values.size()) return;
  Lanes lanes = Lanes::Zero();
  const auto rest = values.subspan(i);
  std::copy(rest.begin(), rest.end(), lanes.data());
  lanes = f(lanes);
  std::copy_n(lanes.data(), rest.size(), rest.begin());
}

}  // namespace

double stable_sin(double x) {
  return turned_sin(x, 0);
}
double stable_cos(double x) {
  return turned_sin(x, 1);
}

double stable_atan(double x) {
  if (!(x == x)) return x;
  constexpr double kHalfPi = 1.5707963267948966;
  const double magnitude = std::fabs(x);
  const bool inverted = magnitude > 1;  // atan(x) = pi / 2 - atan(1 / x)
  double t = inverted ? 1 / magnitude : magnitude;
  // atan(t) = 2 atan(t / (1 + sqrt(1 + t^2))); two such steps leave t below 0.2.
  for (int i = 0; i < 2; ++i) t /= 1 + std::sqrt(1 + t * t);
  double sum = 0;
  for (int n = 23; n >= 1; n -= 2) sum = 1.0 / n - sum * (t * t);
  const double value = 4 * t * sum;
  return std::copysign(inverted ? kHalfPi - value : value, x);
}

double stable_erf(double x) {
  if (!(x == x)) return x;
  const double magnitude = std::fabs(x);
  if (magnitude >= kErfOne) return x < 0 ? -1 : 1;
  // e^-x^2 times a series of positive terms, so that no cancellation occurs.
  double term = magnitude;
  double sum = 0;
  for (int n = 1; term > sum * kErfRest; n += 2) {
    sum += term;
    term *= 2 * magnitude * magnitude / (n + 2);
  }
  const double value = std::min(kTwoOverRootPi * stable_exp(-magnitude * magnitude) * sum, 1.0);
  return x < 0 ? -value : value;
}

double stable_pow(double x, double exponent) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (exponent == 0 || x == 1) return 1;
  const bool whole = exponent == std::floor(exponent);
  const bool negative = whole && is_odd(exponent) && std::signbit(x);
  double magnitude = 0;
  if (x == 0) {
    magnitude = exponent > 0 ? 0 : kInfinity;
  } else if (x < 0 && !whole) {
    return std::numeric_limits<double>::quiet_NaN();
  } else {
    magnitude = stable_exp(exponent * stable_log(std::fabs(x)));
  }
  return negative ? -magnitude : magnitude;
}

double stable_exp(double x) {
  if (!(x == x)) return x;
  if (x > kExpMost) return std::numeric_limits<double>::infinity();
  if (x < kExpLeast) return 0;
  const double exponent = std::floor(x * kLog2E + 0.5);
  const double rest = (x - exponent * kLn2High) - exponent * kLn2Low;  // |rest| <= ln 2 / 2
  double sum = 1.0;
  for (int n = kExpTerms; n >= 1; --n)
    sum = 1.0 + sum * (rest / n);  // Taylor series in Horner form
  return std::ldexp(sum, static_cast<int>(exponent));
}

double stable_log(double x) {
  if (!(x > 0)) {
    return x == 0 ? -std::numeric_limits<double>::infinity()
                  : std::numeric_limits<double>::quiet_NaN();
  }
  if (x == std::numeric_limits<double>::infinity()) return x;
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);  // [0.5, 1)
  if (mantissa < 0.70710678118654752) {
    mantissa *= 2;
    --exponent;
  }
  // log m = 2 artanh((m - 1) / (m + 1)); the argument is below 0.172.
  const double t = (mantissa - 1) / (mantissa + 1);
  const double square = t * t;
  double sum = 0;
  for (int n = 21; n >= 1; n -= 2) sum = sum * square + 1.0 / n;
  return exponent * kLn2High + (2 * t * sum + exponent * kLn2Low);
}

double stable_tanh(double x) {
  if (x > 20) return 1;
  if (x < -20) return -1;
  const double e = stable_exp(2 * x);
  return (e - 1) / (e + 1);
}

double stable_sigmoid(double x) {
  return 1 / (1 + stable_exp(-x));
}

void stable_erf(std::span<double> values) {
  by_lanes(values, erf_lanes);
}
void stable_exp(std::span<double> values) {
  by_lanes(values, exp_lanes);
}
void stable_sigmoid(std::span<double> values) {
  by_lanes(values, sigmoid_lanes);
}
void stable_tanh(std::span<double> values) {
  by_lanes(values, tanh_lanes);
}

}  // namespace thimble::quant
