// SPDX-License-Identifier: Apache-2.0
#pragma once
// Recognizes a table whose entries are a clamped linear function, such as hardsigmoid or a change
// of scale. A 1x1 convolution computes it.

#include <optional>

#include "ir/graph.h"

namespace thimble::engine::neutron {

/// result = clamp(requantize(weight * (x - x_zero) + bias) + y_zero, min, max)
struct ClampedLinear {
  int32_t weight = 1, bias = 0;
  int32_t mult = 0, shift = 0;
  int32_t x_zero = 0, y_zero = 0;
  int32_t min = -128, max = 127;
};

/// Returns the function of an int8 `rescale` or of a `lut`. An entry may differ by 1 from the table
/// only if its exact value is within 2^-20 of a half. Nothing for other functions and constant
/// tables.
[[nodiscard]] std::optional<ClampedLinear> clamped_linear_of(const ir::Graph& graph,
                                                             const ir::Op& op);

}  // namespace thimble::engine::neutron
