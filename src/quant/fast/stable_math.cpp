#include "quant/fast/stable_math.h"

#include <cmath>
#include <limits>

namespace thimble::quant {
namespace {

// ln 2 in two parts; the first has 21 spare bits, so its product with an exponent is exact.
constexpr double kLn2High = 0x1.62e42feep-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

}  // namespace

double stable_exp(double x) {
  if (!(x == x)) return x;
  if (x > 709.0) return std::numeric_limits<double>::infinity();
  if (x < -745.0) return 0;
  const double exponent = std::floor(x * 1.4426950408889634 + 0.5);
  const double rest = (x - exponent * kLn2High) - exponent * kLn2Low;  // |rest| <= ln 2 / 2
  double sum = 1.0;
  for (int n = 14; n >= 1; --n) sum = 1.0 + sum * (rest / n);  // Taylor, Horner
  return std::ldexp(sum, static_cast<int>(exponent));
}

double stable_log(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);  // [0.5, 1)
  if (mantissa < 0.70710678118654752) {
    mantissa *= 2;
    --exponent;
  }
  // log m = 2 artanh((m - 1) / (m + 1)), argument below 0.172
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

}  // namespace thimble::quant
