// SPDX-License-Identifier: Apache-2.0
#pragma once
// Constant weights in quantized form (dequantize of a constant). A factor per output channel is
// multiplied into their scales, so that the quantized values do not change.

#include <span>

#include "passes/uses.h"

namespace thimble::passes {

/// Returns the dequantize operator that produces the value, if it reads a constant of int8 or int32
/// with one scale or one scale per index of dimension 0. Returns null for other values.
[[nodiscard]] const ir::Op* quantized_constant(const ir::Graph& graph, const Uses& uses,
                                               ir::ValueId id);

/// Returns the dequantized elements.
[[nodiscard]] std::vector<double> dequantized_values(const ir::Graph& graph,
                                                     const ir::Op& dequantize);

/// Returns true if the int8 weights can be multiplied by the factors. A negative factor negates the
/// quantized values, which requires a zero point of 0 and no value of -128.
[[nodiscard]] bool can_scale(const ir::Graph& graph, const ir::Op& dequantize,
                             std::span<const double> factors);

/// Adds the weights multiplied by one factor per index of dimension 0.
[[nodiscard]] Result<ir::ValueId> scaled(ir::Rewriter& rewriter, const ir::Op& dequantize,
                                         std::span<const double> factors);

}  // namespace thimble::passes
