// SPDX-License-Identifier: Apache-2.0
#include "quant/output_bias.h"

#include <cmath>
#include <numeric>

#include "quant/rules/rules.h"
#include "quant/side_by_side.h"

namespace thimble::quant {
namespace {

using ir::Graph;
using ir::Op;
using ir::OpKind;
using ir::Tensor;
using ir::ValueId;

/// Returns true if the operator has weights, or a state inside.
bool has_weights(const Op& op) {
  return has_trait(op.kind, trait::kConstantWeights) || op.kind == OpKind::lstm ||
         op.kind == OpKind::gru || op.kind == OpKind::rnn;
}

/// Returns by operator: true if its result can be corrected.
std::vector<bool> last_layers(const Graph& graph, const Plan& plan) {
  std::vector<bool> reaches(graph.value_count(), false);  // weights or a state
  for (const ir::State& state : graph.states()) reaches[ir::index_of(state.next)] = true;
  std::vector<bool> result(graph.ops().size(), false);
  for (size_t i = graph.ops().size(); i-- > 0;) {
    const Op& op = graph.ops()[i];
    const bool own = has_weights(op);
    const bool later = reaches[ir::index_of(op.output)];
    const bool kept = op.kind == OpKind::conv2d || op.kind == OpKind::linear;
    result[i] = kept && !later && op.inputs[2] != ir::kNoValue &&
                graph.value(op.inputs[1]).constant != nullptr &&
                !plan.pins.constants.contains(op.inputs[1]) && std::isinf(plan.ops[i].clamp_min) &&
                std::isinf(plan.ops[i].clamp_max);
    for (const ValueId id : op.inputs) {
      if (id != ir::kNoValue && (own || later)) reaches[ir::index_of(id)] = true;
    }
  }
  return result;
}

/// Returns the mean of (integer - float) by channel.
std::vector<double> mean_errors(const Tensor& expected, const Tensor& codes, const ir::Quant& quant,
                                size_t dim) {
  const auto channels = static_cast<size_t>(expected.shape[dim]);
  const auto plane = static_cast<size_t>(ir::strides(expected.shape, {})[dim]);
  const auto real = expected.data<float>();
  std::vector<double> sums(channels, 0);
  for (size_t i = 0; i < real.size(); ++i) {
    const double got = quant.scale[0] * (element(codes, i) - quant.zero_point[0]);
    sums[i / plane % channels] += got - static_cast<double>(real[i]);
  }
  for (double& sum : sums) sum /= static_cast<double>(real.size() / channels);
  return sums;
}

}  // namespace

std::map<ValueId, std::vector<double>> output_bias_errors(const OutputBiasRequest& request) {
  const Graph& graph = request.graph;
  const std::vector<bool> last = last_layers(graph, request.plan);
  const auto& pairs = request.lowered.counterparts;
  std::vector<int> op_of(pairs.size(), -1);  // by counterpart
  std::vector<size_t> dim_of(pairs.size(), 0);
  bool any = false;
  for (size_t i = 0; i < pairs.size(); ++i) {
    for (size_t op = 0; op < last.size(); ++op) {
      if (!last[op] || request.plan.ops[op].result != pairs[i].real) continue;
      const Op& layer = graph.ops()[op];
      op_of[i] = static_cast<int>(op);
      dim_of[i] = layer.kind == OpKind::linear ? graph.type(layer.output).shape.size() - 1 : 1;
      any = true;
    }
  }
  std::map<ValueId, std::vector<double>> result;
  if (!any || request.first_sample >= request.last_sample) return result;
  const auto count = static_cast<size_t>(request.last_sample);
  std::vector<std::map<ValueId, std::vector<double>>> by_sample(count);
  const QualityRequest all{request.last_sample, request.threads};
  for_each_pair(
      graph, request.lowered, request.samples, all,
      [&](size_t sample, const std::vector<Tensor>& inputs, SideBySide& pair) {
        // Samples of a network without state are independent.
        const bool measured = static_cast<int64_t>(sample) >= request.first_sample;
        if (!measured && graph.states().empty()) return;
        pair.run(inputs, [&](size_t place, const Tensor& expected, const Tensor& codes) {
          if (op_of[place] < 0) return;
          const ir::Quant& quant = *request.lowered.graph.type(pairs[place].integer).quant;
          const Op& op = graph.ops()[static_cast<size_t>(op_of[place])];
          by_sample[sample][op.output] = mean_errors(expected, codes, quant, dim_of[place]);
        });
      });
  const double share = 1 / static_cast<double>(request.last_sample - request.first_sample);
  for (size_t s = static_cast<size_t>(request.first_sample); s < count; ++s) {
    for (const auto& [id, errors] : by_sample[s]) {
      std::vector<double>& total = result[id];
      total.resize(errors.size(), 0);
      for (size_t c = 0; c < errors.size(); ++c) total[c] += errors[c] * share;
    }
  }
  return result;
}

}  // namespace thimble::quant
