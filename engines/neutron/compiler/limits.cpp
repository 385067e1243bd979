// SPDX-License-Identifier: Apache-2.0
#include "engines/neutron/compiler/limits.h"

#include <algorithm>
#include <iterator>

#include "engine/single_op.h"
#include "engines/neutron/compiler/clamped_linear.h"
#include "engines/neutron/compiler/legalize.h"
#include "engines/neutron/compiler/op_rows.h"

namespace thimble::engine::neutron {

using ir::OpKind;

namespace {

std::string violated_row(const OpInGraph& call, Variant variant) {
  const OpKind kind = call.op.kind;
  for (const ZeroRow& row : zero_rows()) {
    if (is_for(row.op, kind) && has(row.variants, variant) && row.quantity(call) != 0) {
      return std::string(row.message);
    }
  }
  for (const LimitRow& row : limit_rows()) {
    if (!is_for(row.op, kind) || !has(row.variants, variant)) continue;
    const int64_t value = row.quantity(call);
    if (value >= row.lowest && value <= row.highest) continue;
    return fmt::format("{} is {}, expected {}", words_of_name(row.name), value,
                       range_text(row.lowest, row.highest));
  }
  for (const ChoiceRow& row : choice_rows()) {
    if (row.op != kind || !has(row.variants, variant)) continue;
    const int64_t value = row.quantity(call);
    if (std::ranges::find(row.values, value) != row.values.end()) continue;
    return fmt::format("{} is {}, expected one of {}", words_of_name(row.name), value,
                       fmt::join(row.values, ", "));
  }
  return "";
}

/// Returns the reason why no operator computes the table of a `lut`; empty if one does.
std::string no_function(const OpInGraph& call, Variant variant) {
  if (clamped_linear_of(call.graph, call.op)) return "";
  const auto function = interchange::recognize_table_function(call.graph, call.op);
  const auto functions = function_rows();
  const auto row =
      function ? std::ranges::find(functions, function->kind, &FunctionRow::kind) : functions.end();
  if (row == functions.end() || !has(row->variants, variant)) {
    return fmt::format("its table is neither a clamped linear function nor one of {}",
                       functions_text(variant));
  }
  const auto fixed_scales = fixed_rows();
  const auto fixed = std::ranges::find(fixed_scales, function->kind, &FixedRow::kind);
  if (fixed == fixed_scales.end()) return "";
  const ir::Quant& given = *call.y().quant;
  if (given == ir::per_tensor(fixed->scale, fixed->zero_point)) return "";
  return fmt::format("scale and zero point of a {} are {} and {}, expected {} and {}", row->builtin,
                     given.scale[0], given.zero_point[0], fixed->scale, fixed->zero_point);
}

/// Returns the reason why the NPU does not have the operator; empty if it has.
std::string missing_operator_reason(const OpInGraph& call, Variant variant) {
  for (const RefusalRow& row : refusal_rows()) {
    if (row.op == call.op.kind && has(row.variants, variant)) return std::string(row.reason);
  }
  const auto rows = supported_rows();
  const auto row = std::ranges::find(rows, call.op.kind, &SupportedRow::op);
  if (row == rows.end() || !has(row->variants, variant))
    return "the NPU has no row for it in ops.def";
  const bool rounds = ir::has_attr(call.op.kind, ir::attr::rounding);
  return rounds && call.op.get(ir::attr::rounding) == 2 ? "it rounds halves to even" : "";
}

/// Returns the reason why the operator is not supported without legalization; empty if it is.
std::string unsupported_reason(const OpInGraph& call, Variant variant) {
  std::string reason = missing_operator_reason(call, variant);
  if (reason.empty()) reason = violated_row(call, variant);
  if (reason.empty() && call.op.kind == OpKind::lut) reason = no_function(call, variant);
  return reason;
}

}  // namespace

const Configuration& configuration_of(std::string_view name) {
  const auto* found = std::ranges::find(kConfigurations, name, &Configuration::name);
  return found == std::end(kConfigurations) ? kConfigurations[0] : *found;
}

std::string violated_row_text(const ir::Graph& graph, const ir::Op& op, Variant variant) {
  return violated_row({graph, op}, variant);
}

Legality check_rules(const ir::Graph& graph, const ir::Op& op, Variant variant) {
  const auto refuse = [&](std::string_view reason) {
    return Legality{false, fmt::format("{}: {}", ir::op_name(op.kind), reason)};
  };
  if (const std::string reason = missing_operator_reason({graph, op}, variant); !reason.empty()) {
    return refuse(reason);
  }
  const auto one = single_op_graph(graph, op);
  if (!one.ok()) return refuse(one.error().message);
  const auto legalized = legalize(*one);
  if (!legalized.ok()) return refuse(legalized.error().message);
  for (const ir::Op& made : legalized->ops()) {
    const std::string reason = unsupported_reason({*legalized, made}, variant);
    if (reason.empty()) continue;
    const std::string name(ir::op_name(made.kind));
    return refuse(made.kind == op.kind ? reason
                                       : fmt::format("it is legalized to {}: {}", name, reason));
  }
  return {true, ""};
}

}  // namespace thimble::engine::neutron
