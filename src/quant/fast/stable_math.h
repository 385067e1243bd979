// SPDX-License-Identifier: Apache-2.0
#pragma once
// Math functions that do not use the C library, whose last bit differs between processors with and
// without fused multiply-add. The relative error of exp and log is below 4e-16. The absolute error
// of tanh, erf, atan, sin and cos (for |x| below 10^6) is below 1e-15.

#include <span>

namespace thimble::quant {

[[nodiscard]] double stable_atan(double x);
[[nodiscard]] double stable_cos(double x);
[[nodiscard]] double stable_erf(double x);
[[nodiscard]] double stable_exp(double x);
[[nodiscard]] double stable_log(double x);                   // as std::log: -inf for 0, NaN if < 0
[[nodiscard]] double stable_pow(double x, double exponent);  // as std::pow
[[nodiscard]] double stable_sin(double x);
[[nodiscard]] double stable_tanh(double x);
[[nodiscard]] double stable_sigmoid(double x);

// Functions of arrays, in place. Each result equals that of the function above bit for bit; loops
// over several elements are about five times as fast.
void stable_erf(std::span<double> values);
void stable_exp(std::span<double> values);
void stable_sigmoid(std::span<double> values);
void stable_tanh(std::span<double> values);

}  // namespace thimble::quant
