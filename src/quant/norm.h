#pragma once
// The numbers of an integer norm: docs/numerics.md, "Norms".

#include <cstdint>

#include "ir/graph.h"

namespace thimble::quant {

inline constexpr double kUnit = 0x1p-16;  // of a normalized element

[[nodiscard]] bool is_norm(ir::OpKind kind);

/// Elements that are normalized together.
[[nodiscard]] int64_t norm_row(const ir::Graph& graph, const ir::Op& op);

/// One number for all of w, so that w fits 16 bits and b, in units of half of it, 30. 0: without w
/// and with no need of one; b then counts in 2^-16.
[[nodiscard]] double norm_weight_scale(const ir::Graph& graph, const ir::Op& op);

/// The least scales of x and of the result that the arithmetic has bits for.
[[nodiscard]] double norm_x_scale_min(const ir::Graph& graph, const ir::Op& op);
[[nodiscard]] double norm_y_scale_min(const ir::Graph& graph, const ir::Op& op);

}  // namespace thimble::quant
