// SPDX-License-Identifier: Apache-2.0
#pragma once
// Functions of one float32 for kernels of operators that stay in float. Results are computed in
// double and rounded once, without libm; they are identical on every machine with IEEE arithmetic.
// Errors in units in the last place of float32: 0.5 for square roots, below 0.6 for all others.
// Sine and cosine have this accuracy up to |x| = 2^20 and return NaN from 2^30 on. See
// docs/numerics.md, "Float operators".

#include <cstdint>

#include "abi/freestanding.h"

namespace thimble::numerics {

inline constexpr double kNan = __builtin_nan("");
inline constexpr double kInfinity = __builtin_inf();
inline constexpr double kLn2 = 0x1.62e42fefa39efp-1;
inline constexpr double kPi = 0x1.921fb54442d18p+1;

constexpr double magnitude(double x) {
  return x < 0 ? -x : x;
}
constexpr bool is_nan(double x) {
  return !(x == x);
}

/// Returns 2^n for n in -1022..1023.
constexpr double power_of_two(int32_t n) {
  return abi::bit_cast<double>(static_cast<uint64_t>(n + 1023) << 52);
}

/// Returns e^r - 1 by its power series, for |r| <= 0.35.
constexpr double exp_minus_one_near_zero(double r) {
  double sum = 1.0;
  for (int32_t n = 9; n >= 2; --n) sum = 1.0 + r * sum / n;
  return r * sum;
}

/// Computes e^x as 2^n e^r with |r| <= ln 2 / 2.
constexpr double exp(double x) {
  if (is_nan(x)) return kNan;
  if (x > 700) return kInfinity;
  if (x < -700) return 0;
  const auto n = static_cast<int32_t>(x / kLn2 + (x < 0 ? -0.5 : 0.5));
  return (1.0 + exp_minus_one_near_zero(x - n * kLn2)) * power_of_two(n);
}

/// Computes ln x as e ln 2 + 2 artanh((m - 1) / (m + 1)) with m within a factor of sqrt 2 of 1. x
/// is the value of a float32, which is a normal double.
constexpr double log(double x) {
  if (is_nan(x) || x < 0) return kNan;
  if (x == 0) return -kInfinity;
  if (x == kInfinity) return x;
  const auto bits = abi::bit_cast<uint64_t>(x);
  auto exponent = static_cast<int32_t>(bits >> 52) - 1023;
  double m = abi::bit_cast<double>((bits & 0xFFFFFFFFFFFFF) | uint64_t{1023} << 52);
  if (m > 1.4142135) {
    m *= 0.5;
    ++exponent;
  }
  const double s = (m - 1) / (m + 1);
  double sum = 0;
  for (int32_t n = 17; n >= 1; n -= 2) sum = sum * s * s + 1.0 / n;
  return exponent * kLn2 + 2 * s * sum;
}

constexpr double sqrt(double x) {
  if (is_nan(x) || x < 0) return kNan;
  if (x == 0 || x == kInfinity) return x;
  // Halve the exponent, then apply Newton steps: the initial error of 4 % is squared in each step.
  double y = abi::bit_cast<double>((abi::bit_cast<uint64_t>(x) >> 1) + (uint64_t{0x1FF7A} << 44));
  for (int32_t step = 0; step < 5; ++step) y = 0.5 * (y + x / y);
  return y;
}

constexpr double sigmoid(double x) {
  return 1.0 / (1.0 + exp(-x));
}

constexpr double tanh(double x) {
  if (is_nan(x)) return kNan;
  const double twice = 2 * magnitude(x);
  double y = 1.0;
  if (twice < 0.35) {
    const double e = exp_minus_one_near_zero(twice);
    y = e / (e + 2);
  } else if (twice < 40) {
    const double e = exp(twice);
    y = (e - 1) / (e + 1);
  }
  return x < 0 ? -y : y;
}

/// Computes 2 / sqrt(pi) e^(-x^2) (x + 2 x^3 / 3 + 4 x^5 / 15 + ...). All terms have the same sign.
constexpr double erf(double x) {
  if (is_nan(x)) return kNan;
  const double size = magnitude(x);
  double y = 1.0;
  if (size < 6) {
    double term = size;
    double sum = size;
    for (int32_t n = 3; term > sum * 1e-15; n += 2) {
      term *= 2 * size * size / n;
      sum += term;
    }
    y = 1.1283791670955126 * exp(-size * size) * sum;
  }
  return x < 0 ? -y : y;
}

/// Returns sin(x + quarters * pi / 2).
constexpr double sine(double x, int32_t quarters) {
  if (!(magnitude(x) < 0x1p30)) return kNan;
  // pi / 2 in two parts: products of the first part with integers below 2^20 are exact.
  constexpr double kHigh = 0x1.921fb544p+0;
  constexpr double kLow = 0x1.0b4611a626331p-34;
  const auto whole = static_cast<int32_t>(x / (kPi / 2) + (x < 0 ? -0.5 : 0.5));
  const double r = x - whole * kHigh - whole * kLow;
  const uint32_t quarter = static_cast<uint32_t>(whole) + static_cast<uint32_t>(quarters);
  const bool cosine = (quarter & 1) != 0;
  double term = cosine ? 1.0 : r;
  double sum = term;
  for (int32_t n = cosine ? 1 : 2; n < 15; n += 2) {
    term *= -r * r / (n * (n + 1));
    sum += term;
  }
  return (quarter & 2) != 0 ? -sum : sum;
}

/// Reduces |x| to at most tan(pi / 8), then adds the power series.
constexpr double atan(double x) {
  const double size = magnitude(x);
  double r = size > 1 ? -1 / size : size;
  double start = size > 1 ? kPi / 2 : 0;
  if (magnitude(r) > 0.41421356) {
    start += r < 0 ? -kPi / 4 : kPi / 4;
    r = r < 0 ? (r + 1) / (1 - r) : (r - 1) / (r + 1);
  }
  double sum = 0;
  for (int32_t n = 31; n >= 1; n -= 2) sum = 1.0 / n - sum * r * r;
  const double y = start + r * sum;
  return x < 0 ? -y : y;
}

/// Computes ln(|x| + sqrt(x^2 + 1)) with the sign of x; the power series where the logarithm would
/// be of a number close to 1.
constexpr double asinh(double x) {
  const double size = magnitude(x);
  double y = size;
  if (size < 0.03) {
    const double square = size * size;
    y = size * (1 - square * (1.0 / 6 - square * (3.0 / 40 - square * (15.0 / 336))));
  } else {
    y = log(size + sqrt(size * size + 1));
  }
  return x < 0 ? -y : y;
}

/// Returns x^y with the special cases of pow in C.
constexpr double pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (is_nan(x) || is_nan(y)) return kNan;
  constexpr double kOddBelow = 0x1p53;
  const bool huge = magnitude(y) >= kOddBelow;
  const auto whole = static_cast<int64_t>(huge ? 0 : y);
  const bool is_whole = huge || static_cast<double>(whole) == y;
  const bool negative = abi::bit_cast<uint64_t>(x) >> 63 != 0 && (whole & 1) != 0 && is_whole;
  const double size = magnitude(x);
  if (size == 0 || size == kInfinity) {
    const double end = (size == 0) == (y > 0) ? 0 : kInfinity;
    return negative ? -end : end;
  }
  if (x < 0 && !is_whole) return kNan;
  double power = 1;
  if (is_whole && magnitude(y) <= 64) {
    for (int64_t i = whole < 0 ? -whole : whole; i > 0; --i) power *= size;
    if (whole < 0) power = 1 / power;
  } else {
    power = exp(y * log(size));
  }
  return negative ? -power : power;
}

/// Returns the largest integer that is at most x. x is the value of a float32.
constexpr double floor(double x) {
  if (!(magnitude(x) < 0x1p24)) return x;
  const auto whole = static_cast<double>(static_cast<int32_t>(x));
  return whole > x ? whole - 1 : whole == 0 ? x * 0 : whole;
}
constexpr double ceil(double x) {
  return -floor(-x);
}

}  // namespace thimble::numerics
