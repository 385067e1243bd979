// SPDX-License-Identifier: Apache-2.0
#include "quant/annotate.h"

#include <algorithm>

#include "quant/assign.h"
#include "quant/global_mean.h"
#include "quant/masked.h"
#include "quant/plan.h"
#include "quant/rules/rules.h"
#include "quant/widths.h"

namespace thimble::quant {
namespace {

using ir::DType;
using ir::Graph;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

constexpr std::string_view kInstead = "quantize the float model instead: compile --calibrate";

bool is_recurrent(OpKind kind) {
  return kind == OpKind::lstm || kind == OpKind::gru || kind == OpKind::rnn;
}

bool is_masked(const ir::Value& value, double limit) {
  if (value.constant == nullptr || value.type.dtype != DType::kF32) return false;
  return std::ranges::any_of(value.constant->data<float>(),
                             [&](float element) { return static_cast<double>(element) <= limit; });
}

/// Returns an error for networks with parameters that no quantize node of PyTorch can hold.
Status check_expressible(const Graph& graph) {
  if (!graph.states().empty()) {
    return unsupported(
        "state {}: PyTorch's quantizer has no parameters for states between runs; {}",
        graph.value(graph.states().front().value).name, kInstead);
  }
  const std::vector<double> limits = mask_limits(graph);
  for (const Op& op : graph.ops()) {
    if (is_recurrent(op.kind)) {
      return ir::located(op.source, op.kind,
                         unsupported("PyTorch's quantizer has no parameters for the gates of a "
                                     "recurrent layer; {}",
                                     kInstead));
    }
    for (const ValueId id : op.inputs) {
      if (id == ir::kNoValue || !is_masked(graph.value(id), limits[ir::index_of(id)])) continue;
      return ir::located(op.source, op.kind,
                         unsupported("a mask of attention ({}) has no scale in PyTorch; {}",
                                     graph.value(id).name, kInstead));
    }
  }
  return ok();
}

/// Returns true if the rule of the operator reads this constant operand as int8 with parameters of
/// its own. Weights and entries of norms have other rules; moved constants have the parameters of
/// the result.
bool reads_constant(const Graph& graph, const Op& op, size_t operand) {
  const ValueId id = op.inputs[operand];
  if (id == ir::kNoValue || graph.value(id).constant == nullptr) return false;
  if (graph.type(id).dtype != DType::kF32) return false;
  if (has_trait(op.kind, trait::kConstantWeights | trait::kConstantEntries)) return false;
  return !shares_params(op.kind) && !joins_params(op.kind) && !selects_elements(op.kind);
}

}  // namespace

Result<Annotations> annotate(const Graph& prepared, const QuantSpec& spec) {
  THIMBLE_CHECK(check_expressible(prepared));
  Annotations result;
  if (spec.own_means) {
    THIMBLE_TRY(result.graph, pools_to_means(prepared));
  } else {
    result.graph = prepared;
  }
  const Graph& graph = result.graph;
  PlanPreferences preferences = preferences_of(spec, {});
  preferences.sigmoid_scale_from_range = false;  // needs ranges
  THIMBLE_TRY(Plan roles, plan(graph, {}, preferences));
  assign_widths(graph, {std::vector<bool>(graph.ops().size(), false), {}, Io::kFloat}, roles);
  Classes classes(graph, roles);
  classes.join_without_ranges();
  for (size_t i = 0; i < graph.value_count(); ++i) {
    const ValueId id = static_cast<ValueId>(i);
    if (!roles.is_quantized[i] || graph.type(id).dtype != DType::kF32) continue;
    const Classes::Sharing sharing = classes.sharing(id);
    result.values.push_back(
        {id, sharing.root, sharing.has_own_range, sharing.symmetric, sharing.fixed});
  }
  for (size_t i = 0; i < graph.ops().size(); ++i) {
    const Op& op = graph.ops()[i];
    if (roles.ops[i].role != Role::kLower) continue;
    for (size_t k = 0; k < op.inputs.size(); ++k) {
      if (!reads_constant(graph, op, k)) continue;
      result.constants.push_back({i, op.inputs[k], roles.ops[i].symmetric});
    }
  }
  return result;
}

}  // namespace thimble::quant
