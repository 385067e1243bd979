// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parameters of an integer norm: docs/numerics.md, "Norms".

#include <cstdint>

#include "ir/graph.h"

namespace thimble::quant {

inline constexpr double kUnit = 0x1p-16;  // of a normalized element

[[nodiscard]] bool is_norm(ir::OpKind kind);

/// Returns the number of elements that are normalized together.
[[nodiscard]] int64_t norm_row(const ir::Graph& graph, const ir::Op& op);

/// Returns one scale for all of w. With it, w fits 16 bits, and b fits 30 bits in units of half of
/// it. Returns 0 if there is no w and no scale is needed; the unit of b is then 2^-16.
[[nodiscard]] double norm_weight_scale(const ir::Graph& graph, const ir::Op& op);

/// Lower bounds of the scales of x and of the result, set by the width of the integer arithmetic.
[[nodiscard]] double norm_x_scale_min(const ir::Graph& graph, const ir::Op& op);
[[nodiscard]] double norm_y_scale_min(const ir::Graph& graph, const ir::Op& op);

}  // namespace thimble::quant
