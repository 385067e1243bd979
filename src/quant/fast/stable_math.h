#pragma once
// Functions without the C library, whose versions differ in the last bit between processors with
// and without fused multiply-add. Relative error of exp and log below 4e-16; absolute error of
// tanh, erf, sin and cos (for |x| below 10^6) below 1e-15.

namespace thimble::quant {

[[nodiscard]] double stable_cos(double x);
[[nodiscard]] double stable_erf(double x);
[[nodiscard]] double stable_exp(double x);
[[nodiscard]] double stable_log(double x);                   // as std::log: -inf for 0, NaN below
[[nodiscard]] double stable_pow(double x, double exponent);  // as std::pow
[[nodiscard]] double stable_sin(double x);
[[nodiscard]] double stable_tanh(double x);
[[nodiscard]] double stable_sigmoid(double x);

}  // namespace thimble::quant
