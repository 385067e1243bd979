#include "quant/per_tensor.h"

#include <cmath>
#include <memory>
#include <optional>

#include "quant/simulate.h"

namespace thimble::quant {
namespace {

using ir::Graph;
using ir::Op;
using ir::Tensor;
using ir::ValueId;

/// One linear with one weight scale, in a graph of its own.
std::optional<Graph> trial_graph(const Graph& float_graph, const LoweredGraph& lowered,
                                 const Counterpart& pair, const Decisions& decisions) {
  const Op& real = float_graph.ops()[pair.float_op];
  const Op& integer = lowered.graph.ops()[pair.integer_op];
  const bool has_bias = real.inputs[2] != ir::kNoValue;
  const auto weights = weights_of(float_graph, real, pair.real, decisions, /*per_channel=*/false);
  if (!weights) return std::nullopt;
  Graph graph;
  const auto constant = [&graph](const char* name, const Tensor& tensor) {
    return graph.add_constant(name, std::make_shared<Tensor>(tensor));
  };
  const ValueId x = graph.add_input("x", lowered.graph.type(integer.inputs[0]));
  const ValueId w = constant("w", weights->w);
  const ValueId bias = has_bias ? constant("bias", weights->bias) : ir::kNoValue;
  const ValueId mult = constant("mult", weights->mult);
  const ValueId shift = constant("shift", weights->shift);
  const auto y = graph.add(integer.kind, {x, w, bias, mult, shift}, integer.attrs, integer.source);
  if (!y) return std::nullopt;
  graph.add_output(*y);
  return graph;
}

Tensor run_trial(const Graph& graph, const Tensor& x) {
  Engine engine(graph, integer_kernels());
  engine.run({&x, 1}, {});
  return std::move(engine.outputs()[0]);
}

}  // namespace

std::set<size_t> close_per_tensor_linears(const Graph& float_graph, const LoweredGraph& lowered,
                                          const Decisions& decisions, const Samples& samples,
                                          const QualityRequest& request, double tolerance_db) {
  std::vector<std::optional<Graph>> trials(lowered.counterparts.size());
  bool any = false;
  for (size_t i = 0; i < trials.size(); ++i) {
    const Counterpart& pair = lowered.counterparts[i];
    if (lowered.graph.ops()[pair.integer_op].kind != ir::OpKind::qlinear) continue;
    trials[i] = trial_graph(float_graph, lowered, pair, decisions);
    any = any || trials[i].has_value();
  }
  if (!any) return {};

  struct Pair {
    Sums per_channel, per_tensor;
  };
  std::vector<std::vector<Pair>> sums(static_cast<size_t>(request.samples),
                                      std::vector<Pair>(trials.size()));
  for_each_pair(float_graph, lowered, samples, request,
                [&](size_t sample, const std::vector<Tensor>& inputs, SideBySide& pair) {
                  pair.run(inputs, [&](size_t place, const Tensor& reference, const Tensor& codes) {
                    if (!trials[place]) return;
                    const Counterpart& counterpart = lowered.counterparts[place];
                    const Op& op = lowered.graph.ops()[counterpart.integer_op];
                    const ir::Quant& quant = *lowered.graph.type(counterpart.integer).quant;
                    const Tensor trial =
                        run_trial(*trials[place], pair.integer_value(op.inputs[0]));
                    sums[sample][place] = {compare(reference, codes, quant),
                                           compare(reference, trial, quant)};
                  });
                });

  const double allowed = std::pow(10.0, tolerance_db / 10);  // more noise than per channel
  std::set<size_t> close;
  for (size_t place = 0; place < trials.size(); ++place) {
    if (!trials[place]) continue;
    Pair total;
    for (const auto& sample : sums) {
      total.per_channel.add(sample[place].per_channel);
      total.per_tensor.add(sample[place].per_tensor);
    }
    if (total.per_tensor.noise <= total.per_channel.noise * allowed) {
      close.insert(lowered.counterparts[place].float_op);
    }
  }
  return close;
}

}  // namespace thimble::quant
