// SPDX-License-Identifier: Apache-2.0
#pragma once
// Decides which operators have weights of 4 bits. Convolutions without groups and linear layers
// with int8 activations have such a form.

#include <set>
#include <vector>

#include "quant/mixed.h"
#include "quant/plan.h"
#include "quant/quantize.h"

namespace thimble::quant {

/// Returns true for convolutions, linear and recurrent layers.
[[nodiscard]] bool has_weight_matrix(const ir::Op& op);

/// Returns the results of the operators with weights of 4 bits: those that QuantizeOptions::int4
/// selects and that have such a form.
[[nodiscard]] std::set<ir::ValueId> int4_results(const ir::Graph& graph, const Plan& plan,
                                                 const QuantizeOptions& options);

/// Returns the indices of the operators that QuantizeOptions::int4_candidates selects, that have
/// such a form and have weights of 8 bits.
[[nodiscard]] std::vector<size_t> int4_candidates(const ir::Graph& graph, const Plan& plan,
                                                  const QuantizeOptions& options);

/// Returns true if the weights of the operator can have a factor for each group (group_weights.h):
/// linear layers and 1x1 convolutions with stride 1 and without padding, with more inputs than one
/// group has, and a multiple of 4.
[[nodiscard]] bool can_have_groups(const ir::Graph& graph, const ir::Op& op);

/// Measures each candidate alone with weights of 4 bits, with the nearest codes.
[[nodiscard]] Status rank_int4(const ir::Graph& graph, const Variant& trial, const Samples& samples,
                               const QuantizeOptions& options, QuantReport& report);

/// Sets the members of the report on weights of 4 bits.
void report_int4(const ir::Graph& graph, const Plan& plan, const QuantizeOptions& options,
                 const ir::Graph& lowered, QuantReport& report);

}  // namespace thimble::quant
