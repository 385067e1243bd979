// SPDX-License-Identifier: Apache-2.0
#pragma once
// Decides which values have 16 bits.
//
// An operator with a 16-bit request has 16-bit operands and a 16-bit result, if its rule supports
// this (trait kWide) or it becomes a table. Operators that only move or select quantized values
// keep the width of their operands. An input has the largest width that its readers request.
// Lowering adds a conversion where two widths meet.

#include <vector>

#include "quant/plan.h"
#include "quant/quantize.h"

namespace thimble::quant {

struct WidthRequest {
  std::vector<bool> ops;     // by operator index: 16 bits are requested
  std::vector<bool> refuse;  // by value: must have 8 bits; empty: no restriction
  IoTypes io;                // types of inputs
};

/// By operator: true if QuantizeOptions::wide selects it.
[[nodiscard]] std::vector<bool> requested_wide(const ir::Graph& graph,
                                               const QuantizeOptions& options);

/// Sets `wide` of the plan's operators and values. Pinned parameters do not change.
void assign_widths(const ir::Graph& graph, const WidthRequest& request, Plan& plan);

/// Returns true if the operator has a form with 16-bit activations. Not used for operators that
/// only move quantized values.
[[nodiscard]] bool has_wide_form(const ir::Graph& graph, const ir::Op& op, const OpPlan& plan);
[[nodiscard]] bool keeps_width(ir::OpKind kind);

/// By value: true for the samples that a log_mel reads, also through operators that move them.
[[nodiscard]] std::vector<bool> sample_rows(const ir::Graph& graph, const Plan& plan);

}  // namespace thimble::quant
