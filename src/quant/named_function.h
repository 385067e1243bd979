#pragma once
// Functions of one value that have a name on some engines: what a table may hold there.

#include <functional>
#include <span>
#include <string_view>

namespace thimble::quant {

/// abs, clamp, exp, hard_swish, leaky_relu, line (a * x + b between bounds, clamp included), log,
/// logistic, rsqrt, tanh.
[[nodiscard]] bool is_function_name(std::string_view name);

/// Is f one of these, whatever it is made of? Judged on some 500 numbers up to 1000 to either side.
[[nodiscard]] bool is_named(const std::function<double(double)>& f,
                            std::span<const std::string_view> names);

}  // namespace thimble::quant
