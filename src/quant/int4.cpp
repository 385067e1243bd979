#include "quant/int4.h"

#include <algorithm>
#include <string_view>

#include "ir/op_traits.h"
#include "ir/weight_bits.h"

namespace thimble::quant {
namespace {

using ir::Graph;
using ir::Op;
using ir::OpKind;

/// Returns the reason for which the weights have 8 bits; empty if they can have 4.
std::string_view obstacle(const Graph& graph, const Op& op, const OpPlan& op_plan,
                          const Plan& plan) {
  if (op.kind == OpKind::lstm || op.kind == OpKind::gru) {
    if (!op_plan.wide) return {};
    return "int8 weights: int16 activations have no kernel with 4 bits";
  }
  if (op.kind != OpKind::conv2d && op.kind != OpKind::linear) {
    return "int8 weights: no kernels with 4 bits for this operator";
  }
  if (graph.value(op.inputs[1]).constant == nullptr)
    return "int8 weights: the weights are not constant";
  if (op.kind == OpKind::conv2d && op.get(ir::attr::groups) != 1) {
    return "int8 weights: a convolution with groups has no kernel with 4 bits";
  }
  if (op_plan.wide) return "int8 weights: int16 activations have no kernel with 4 bits";
  const auto pinned = plan.pins.constants.find(op.inputs[1]);
  if (pinned == plan.pins.constants.end()) return {};
  const QuantizedConstant& weights = pinned->second;
  if (weights.codes->dtype != ir::DType::kI8 || weights.axis > 0) return {};  // refused later
  const auto codes = weights.codes->data<int8_t>();
  const size_t terms = codes.size() / weights.scale.size();
  for (size_t i = 0; i < codes.size(); ++i) {
    const int32_t code = codes[i] - weights.zero_point[i / terms];
    if (code < -8 || code > 7) return "int8 weights: PyTorch quantized them to more than 4 bits";
  }
  return {};
}

template <class Each>
void for_each_selected(const Graph& graph, const QuantizeOptions& options, Each each) {
  if (!options.int4) return;
  for (size_t i = 0; i < graph.ops().size(); ++i) {
    const Op& op = graph.ops()[i];
    if (has_weight_matrix(op) && options.int4(graph, op)) each(op, i);
  }
}

}  // namespace

bool has_weight_matrix(const Op& op) {
  const ir::OpCategory category = ir::category_of(op.kind);
  return category == ir::OpCategory::kConv || category == ir::OpCategory::kConvTranspose ||
         category == ir::OpCategory::kLinear || category == ir::OpCategory::kRecurrent;
}

std::set<ir::ValueId> int4_results(const Graph& graph, const Plan& plan,
                                   const QuantizeOptions& options) {
  std::set<ir::ValueId> results;
  for_each_selected(graph, options, [&](const Op& op, size_t i) {
    if (obstacle(graph, op, plan.ops[i], plan).empty()) results.insert(op.output);
  });
  return results;
}

std::vector<size_t> int4_candidates(const Graph& graph, const Plan& plan,
                                    const QuantizeOptions& options) {
  std::vector<size_t> found;
  if (!options.int4_candidates) return found;
  const std::set<ir::ValueId> chosen = int4_results(graph, plan, options);
  for (size_t i = 0; i < graph.ops().size(); ++i) {
    const Op& op = graph.ops()[i];
    if (plan.ops[i].role != Role::kLower || chosen.contains(op.output)) continue;
    if (!has_weight_matrix(op) || !options.int4_candidates(graph, op)) continue;
    if (obstacle(graph, op, plan.ops[i], plan).empty()) found.push_back(i);
  }
  return found;
}

void report_int4(const Graph& graph, const Plan& plan, const QuantizeOptions& options,
                 const Graph& lowered, QuantReport& report) {
  for_each_selected(graph, options, [&](const Op& op, size_t i) {
    const std::string_view reason = obstacle(graph, op, plan.ops[i], plan);
    if (reason.empty()) return;
    report.kept_int8_weights.push_back(
        {graph.value(plan.ops[i].result).name, op.source, std::string(reason)});
  });
  constexpr int64_t kScaleBytes = 5;  // multiplier and shift
  for (const Op& op : lowered.ops()) {
    if (!ir::has_int4_weights(op)) continue;
    ++report.int4_ops;
    for (const size_t i : ir::weight_operands(op.kind)) {
      const int64_t weights = lowered.type(op.inputs[i]).elements();
      const int64_t scales = kScaleBytes * lowered.type(op.inputs[i]).shape[0];
      report.int4_bytes += (weights + 1) / 2 + scales;
      report.int4_as_int8_bytes += weights + scales;
    }
  }
}

}  // namespace thimble::quant
