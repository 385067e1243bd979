#pragma once
// Weights that are held as codes (dequantize of a constant): a factor per output channel goes into
// their scales, so that codes stay what they are.

#include <span>

#include "passes/uses.h"

namespace thimble::passes {

/// The dequantize operator that makes the value, if it reads constant int8 or int32 codes with one
/// scale or one per index of dimension 0; null for other values.
[[nodiscard]] const ir::Op* quantized_constant(const ir::Graph& graph, const Uses& uses,
                                               ir::ValueId id);

/// What it computes: `count` numbers along dimension 0, one each.
[[nodiscard]] std::vector<double> real_numbers(const ir::Graph& graph, const ir::Op& dequantize);

/// A negative factor turns codes around, which those at the end of their range or with a zero point
/// cannot.
[[nodiscard]] bool can_scale(const ir::Graph& graph, const ir::Op& dequantize,
                             std::span<const double> factors);

/// The weights times a factor per index of dimension 0.
[[nodiscard]] Result<ir::ValueId> scaled(ir::Rewriter& rewriter, const ir::Op& dequantize,
                                         std::span<const double> factors);

}  // namespace thimble::passes
