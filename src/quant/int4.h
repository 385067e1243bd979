#pragma once
// Decides which operators have weights of 4 bits. Convolutions without groups and linear layers
// with int8 activations have such a form.

#include <set>

#include "quant/plan.h"
#include "quant/quantize.h"

namespace thimble::quant {

/// Returns true for convolutions, linear and recurrent layers.
[[nodiscard]] bool has_weight_matrix(const ir::Op& op);

/// Returns the results of the operators with weights of 4 bits: those that QuantizeOptions::int4
/// selects and that have such a form.
[[nodiscard]] std::set<ir::ValueId> int4_results(const ir::Graph& graph, const Plan& plan,
                                                 const QuantizeOptions& options);

/// Sets the members of the report on weights of 4 bits.
void report_int4(const ir::Graph& graph, const Plan& plan, const QuantizeOptions& options,
                 const ir::Graph& lowered, QuantReport& report);

}  // namespace thimble::quant
