// SPDX-License-Identifier: Apache-2.0
#include "quant/int4.h"

#include <algorithm>
#include <string_view>

#include "base/cancel.h"
#include "base/rounding.h"
#include "ir/op_cost.h"
#include "ir/op_traits.h"
#include "ir/weight_bits.h"
#include "quant/score.h"

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
    return "int8 weights: a grouped or depthwise convolution has no kernel with 4 bits";
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

/// Number of samples that rank operators: 2 to 16, fewer for large networks and many operators.
int64_t ranking_samples(const Graph& graph, const Samples& samples, size_t operators) {
  constexpr double kWork = 2e10;  // multiply-accumulates
  constexpr double kFewest = 2, kMost = 16;
  double work = 1;
  for (const Op& op : graph.ops()) work += static_cast<double>(ir::macs_or_elements(graph, op));
  const double wanted = kWork / (work * static_cast<double>(operators));
  return std::min(samples.count(), static_cast<int64_t>(std::clamp(wanted, kFewest, kMost)));
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

bool can_have_groups(const Graph& graph, const Op& op) {
  if (op.kind != OpKind::linear && op.kind != OpKind::conv2d) return false;
  const ir::Shape& w = graph.type(op.inputs[1]).shape;
  if (w[1] <= ir::kWeightGroup || w[1] % 4 != 0) return false;
  if (op.kind == OpKind::linear) return true;
  const auto all = [](const std::vector<int64_t>& list, int64_t value) {
    return std::ranges::all_of(list, [&](int64_t entry) { return entry == value; });
  };
  return graph.type(op.inputs[0]).shape[0] == 1 && op.get(ir::attr::groups) == 1 && w[2] == 1 &&
         w[3] == 1 && all(op.get(ir::attr::stride), 1) && all(op.get(ir::attr::padding), 0);
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

Status rank_int4(const Graph& graph, const Variant& trial, const Samples& samples,
                 const QuantizeOptions& options, QuantReport& report) {
  const std::vector<size_t> candidates = int4_candidates(graph, trial.plan, options);
  if (candidates.empty()) return ok();
  report_progress(options.progress, "ranking weights of 4 bits");
  const QualityRequest request{ranking_samples(graph, samples, candidates.size()), options.threads};
  const RealOutputs reference = float_outputs(graph, samples, request);
  const auto measured = [&](const LoweredGraph& lowered) {
    return score_of(reference, integer_outputs(lowered.graph, samples, request));
  };
  const double before = measured(trial.lowered).noise_sum();
  for (const size_t i : candidates) {
    THIMBLE_CHECK(check_cancelled());
    const Op& op = graph.ops()[i];
    Decisions decisions = trial.decisions;
    decisions.int4.insert(op.output);
    decisions.per_tensor.erase(i);
    THIMBLE_TRY(const LoweredGraph lowered, lower(graph, trial.plan, decisions, options.io));
    const Score score = measured(lowered);
    Int4Candidate candidate;
    candidate.output = graph.value(op.output).name;
    candidate.source = op.source;
    for (const Counterpart& pair : lowered.counterparts) {
      if (pair.real == trial.plan.ops[i].result)
        candidate.integer = lowered.graph.value(pair.integer).name;
    }
    for (const size_t operand : ir::weight_operands(op.kind)) {
      candidate.weights += graph.type(op.inputs[operand]).elements();
    }
    candidate.sqnr_db = *std::ranges::min_element(score.db);
    candidate.noise = std::max(0.0, score.noise_sum() - before);
    report.int4_candidates.push_back(std::move(candidate));
  }
  return ok();
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
    if (ir::has_grouped_weights(op)) ++report.int4_grouped_ops;
    for (const size_t i : ir::weight_operands(op.kind)) {
      const int64_t weights = lowered.type(op.inputs[i]).elements();
      const int64_t scales = kScaleBytes * lowered.type(op.inputs[i]).shape[0];
      report.int4_bytes += (weights + 1) / 2 + scales;
      if (ir::has_grouped_weights(op)) {
        const ir::Shape& shape = lowered.type(op.inputs[i]).shape;
        report.int4_bytes += shape[0] * divide_up(shape[1], ir::kWeightGroup);
      }
      report.int4_as_int8_bytes += weights + scales;
    }
  }
}

}  // namespace thimble::quant
