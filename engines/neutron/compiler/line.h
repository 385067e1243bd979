#pragma once
// A table whose entries lie on a line that bounds cut off, as of hardsigmoid, or of the same number
// in other codes: a convolution of one tap computes it.

#include <optional>

#include "ir/graph.h"

namespace thimble::engine::neutron {

/// result = clamp(requantize(weight * (x - x_zero) + bias) + y_zero, min, max)
struct Line {
  int32_t weight = 1, bias = 0;
  int32_t mult = 0, shift = 0;
  int32_t x_zero = 0, y_zero = 0;
  int32_t min = -128, max = 127;
};

/// Of a `rescale` of int8, or of a `lut`: no entry differs by more than 1, which takes an entry
/// that lies within 2^-20 of a half. Nothing if the table holds another function, or one number.
[[nodiscard]] std::optional<Line> line_of(const ir::Graph& graph, const ir::Op& op);

}  // namespace thimble::engine::neutron
