#pragma once
// Which values have 16 bits.
//
// An operator that is asked for has 16-bit operands and a 16-bit result, if its rule knows that
// form (trait kWide) or it becomes a table. Operators that only move or choose codes keep the
// width that they find. An input is as wide as its widest reader asks for. Where two widths meet,
// lowering converts.

#include <vector>

#include "quant/plan.h"
#include "quant/quantize.h"

namespace thimble::quant {

struct WidthRequest {
  std::vector<bool> ops;     // by operator index: 16 bits are wanted
  std::vector<bool> refuse;  // by value: must have 8 bits; empty: none
  bool narrow_inputs = false;
};

/// By operator: what QuantizeOptions::wide says.
[[nodiscard]] std::vector<bool> asked_for(const ir::Graph& graph, const QuantizeOptions& options);

/// Sets `wide` of the plan's operators and values. What PyTorch pinned stays as it is.
void assign_widths(const ir::Graph& graph, const WidthRequest& request, Plan& plan);

/// Has the operator a form with 16-bit activations? (Not asked of operators that move codes.)
[[nodiscard]] bool has_wide_form(const ir::Graph& graph, const ir::Op& op, const OpPlan& plan);
[[nodiscard]] bool keeps_width(ir::OpKind kind);

}  // namespace thimble::quant
