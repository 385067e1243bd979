// SPDX-License-Identifier: Apache-2.0
#pragma once
// Unary functions for which some engines have an operator. Tables for these engines must be one of
// them.

#include <functional>
#include <span>
#include <string_view>

namespace thimble::quant {

/// Returns true for abs, clamp, exp, hard_swish, leaky_relu, line (a * x + b with bounds; includes
/// clamp), log, logistic, rsqrt, tanh.
[[nodiscard]] bool is_function_name(std::string_view name);

/// Returns true if f equals one of these functions. f is compared at about 500 points from -1000 to
/// 1000.
[[nodiscard]] bool is_named(const std::function<double(double)>& f,
                            std::span<const std::string_view> names);

}  // namespace thimble::quant
