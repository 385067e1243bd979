// SPDX-License-Identifier: Apache-2.0
#include "partition/partition.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>

#include "ir/op_cost.h"
#include "ir/op_traits.h"

namespace thimble::partition {
namespace {

using ir::Op;
using ir::OpKind;
using ir::ValueId;

constexpr int kCpu = -1;
/// CPU cost of an engine call: copies, cache maintenance, registers, an interrupt. In steps of a
/// kernel's innermost loop. A call must save more steps than this.
constexpr int64_t kDispatchSteps = 2000;

bool is_float_edge(const Op& op) {
  return op.kind == OpKind::quantize || op.kind == OpKind::dequantize;
}

class Partitioner {
 public:
  Partitioner(const ir::Graph& graph, std::span<const engine::PartNpu> engines,
              const Choices& choices)
      : graph_(graph),
        engines_(engines),
        keep_small_(choices.keep_small),
        minimum_steps_(choices.minimum_steps),
        producers_(graph.producers()),
        engine_(graph.ops().size(), kCpu),
        reasons_(graph.ops().size()) {
    const auto consumers = graph.consumers();
    for (const Op& op : graph.ops()) readers_.push_back(consumers[static_cast<size_t>(op.output)]);
  }

  void select_engines(std::span<const std::string> keep_off) {
    for (size_t i = 0; i < graph_.ops().size(); ++i) {
      const Op& op = graph_.ops()[i];
      if (is_float_edge(op)) {
        reasons_[i] = "converts between float and integer: runs on the CPU";
        continue;
      }
      if (reads_constants_only(op)) {
        reasons_[i] = "reads only constants: runs on the CPU";
        continue;
      }
      if (!keep_off.empty() && !keep_off[i].empty()) {
        reasons_[i] = keep_off[i];
        continue;
      }
      for (size_t e = 0; e < engines_.size() && engine_[i] == kCpu; ++e) {
        const engine::Legality verdict = engines_[e].engine->legal(graph_, op, engines_[e]);
        if (verdict.legal) {
          engine_[i] = static_cast<int>(e);
        } else {
          reasons_[i] += fmt::format("{}{}: {}", reasons_[i].empty() ? "" : "; ", engines_[e].name,
                                     verdict.reason);
        }
      }
    }
  }

  bool reads_constants_only(const Op& op) const {
    return std::ranges::all_of(op.inputs, [&](ValueId input) {
      return input == ir::kNoValue || graph_.value(input).constant != nullptr;
    });
  }

  /// Returns unprofitable subgraphs to the CPU, until all remaining ones are profitable.
  void remove_unprofitable() {
    for (;;) {
      find_subgraphs();
      bool changed = false;
      for (const auto& [key, ops] : subgraphs_) {
        const std::string reason = why_not(ops, engines_[static_cast<size_t>(key.second)]);
        if (reason.empty()) continue;
        changed = true;
        for (const int op : ops) {
          engine_[static_cast<size_t>(op)] = kCpu;
          reasons_[static_cast<size_t>(op)] = reason;
        }
      }
      if (!changed) return;
    }
  }

  Result<Partition> cut() {
    Partition result;
    result.reasons = std::move(reasons_);
    result.subgraph_of.assign(graph_.ops().size(), -1);
    ir::Rewriter rewriter(graph_);
    for (const std::vector<int>& unit : units()) {
      const int engine = engine_[static_cast<size_t>(unit[0])];
      if (engine == kCpu) {
        THIMBLE_CHECK(rewriter.copy(graph_.ops()[static_cast<size_t>(unit[0])]));
        continue;
      }
      const auto index = static_cast<int>(result.subgraphs.size());
      for (const int op : unit) result.subgraph_of[static_cast<size_t>(op)] = index;
      THIMBLE_TRY(Subgraph subgraph,
                  build(unit, engines_[static_cast<size_t>(engine)], index, &rewriter));
      result.subgraphs.push_back(std::move(subgraph));
    }
    result.graph = rewriter.finish();
    result.added = std::move(added_);
    return result;
  }

 private:
  using Key = std::pair<int, int>;  // level, engine

  void find_subgraphs() {
    subgraphs_.clear();
    std::vector<int> level(graph_.ops().size(), 0);
    for (size_t i = 0; i < graph_.ops().size(); ++i) {
      for (const ValueId input : graph_.ops()[i].inputs) {
        const int producer = input == ir::kNoValue ? -1 : producers_[static_cast<size_t>(input)];
        if (producer < 0) continue;
        const auto p = static_cast<size_t>(producer);
        level[i] = std::max(level[i], level[p] + (engine_[p] != engine_[i] ? 1 : 0));
      }
    }
    raise_levels(&level);
    for (size_t i = 0; i < graph_.ops().size(); ++i) {
      if (engine_[i] != kCpu) subgraphs_[{level[i], engine_[i]}].push_back(static_cast<int>(i));
    }
  }

  /// Raises the level of connected operators of one engine and level. The new level is the highest
  /// that all readers outside the group allow. Example: an operator that only reads a state moves
  /// to the level of the readers of its result.
  void raise_levels(std::vector<int>* level) const {
    int highest = 0;
    for (const int each : *level) highest = std::max(highest, each);
    for (int at = highest - 1; at >= 0; --at) {
      std::vector<bool> done(graph_.ops().size(), false);
      for (size_t i = 0; i < graph_.ops().size(); ++i) {
        if (done[i] || engine_[i] == kCpu || (*level)[i] != at) continue;
        const std::vector<size_t> piece = connected_ops(i, *level, &done);
        const int latest = latest_level(piece, *level);
        for (const size_t member : piece) (*level)[member] = std::max(at, latest);
      }
    }
  }

  /// Returns all operators connected to an operator within its engine and level.
  std::vector<size_t> connected_ops(size_t start, const std::vector<int>& level,
                                    std::vector<bool>* done) const {
    std::vector<size_t> piece = {start};
    (*done)[start] = true;
    for (size_t next = 0; next < piece.size(); ++next) {
      const size_t i = piece[next];
      std::vector<int> neighbours = readers_[i];
      for (const ValueId input : graph_.ops()[i].inputs) {
        if (input != ir::kNoValue) neighbours.push_back(producers_[static_cast<size_t>(input)]);
      }
      for (const int neighbour : neighbours) {
        if (neighbour < 0) continue;
        const auto n = static_cast<size_t>(neighbour);
        if ((*done)[n] || engine_[n] != engine_[start] || level[n] != level[start]) continue;
        (*done)[n] = true;
        piece.push_back(n);
      }
    }
    return piece;
  }

  int latest_level(const std::vector<size_t>& piece, const std::vector<int>& level) const {
    int latest = -1;
    for (const size_t i : piece) {
      for (const int reader : readers_[i]) {
        const auto r = static_cast<size_t>(reader);
        if (std::ranges::find(piece, r) != piece.end()) continue;
        const int allowed = level[r] - (engine_[r] == engine_[i] ? 0 : 1);
        latest = latest < 0 ? allowed : std::min(latest, allowed);
      }
    }
    return latest;
  }

  std::string why_not(const std::vector<int>& ops, const engine::PartNpu& engine) const {
    int64_t steps = 0;
    bool computes = false;
    for (const int index : ops) {
      const Op& op = graph_.ops()[static_cast<size_t>(index)];
      computes = computes || !ir::only_moves(op.kind);
      steps += ir::macs_or_elements(graph_, op);
    }
    if (!computes) return "the subgraph would only move data: cheaper on the CPU";
    const bool ignore_cost = keep_small_ || is_whole_graph(ops);
    if (minimum_steps_ && steps < *minimum_steps_ && !ignore_cost) {
      return fmt::format("the subgraph has {} steps, the part's recipe requires {}", steps,
                         *minimum_steps_);
    }
    if (engine.engine->decline_reason != nullptr) {
      auto subgraph = content(ops, engine);
      if (!subgraph.ok()) return subgraph.error().message;
      return engine.engine->decline_reason(subgraph->graph, engine, ignore_cost);
    }
    if (ignore_cost) return "";
    if (minimum_steps_ || steps >= kDispatchSteps) return "";
    return fmt::format("the subgraph has {} steps, a dispatch costs {}: cheaper on the CPU", steps,
                       kDispatchSteps);
  }
  /// Returns true if these are all integer operators of the graph.
  bool is_whole_graph(const std::vector<int>& ops) const {
    const auto edges = static_cast<size_t>(std::ranges::count_if(graph_.ops(), is_float_edge));
    return ops.size() + edges == graph_.ops().size();
  }

  /// Returns single CPU operators and whole subgraphs in a topological order that is close to the
  /// order of the graph.
  std::vector<std::vector<int>> units() const {
    std::vector<std::vector<int>> units;
    std::vector<int> unit_of(graph_.ops().size(), -1);
    for (const auto& [key, ops] : subgraphs_) {
      for (const int op : ops) unit_of[static_cast<size_t>(op)] = static_cast<int>(units.size());
      units.push_back(ops);
    }
    for (size_t i = 0; i < graph_.ops().size(); ++i) {
      if (unit_of[i] >= 0) continue;
      unit_of[i] = static_cast<int>(units.size());
      units.push_back({static_cast<int>(i)});
    }
    std::vector<std::set<int>> readers(units.size());
    std::vector<int> missing(units.size(), 0);
    for (size_t i = 0; i < graph_.ops().size(); ++i) {
      for (const ValueId input : graph_.ops()[i].inputs) {
        const int producer = input == ir::kNoValue ? -1 : producers_[static_cast<size_t>(input)];
        if (producer < 0) continue;
        const int from = unit_of[static_cast<size_t>(producer)];
        const bool fresh =
            from != unit_of[i] && readers[static_cast<size_t>(from)].insert(unit_of[i]).second;
        if (fresh) ++missing[static_cast<size_t>(unit_of[i])];
      }
    }
    using Entry = std::pair<int, int>;  // first operator, unit
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    for (size_t u = 0; u < units.size(); ++u) {
      if (missing[u] == 0) ready.emplace(units[u][0], static_cast<int>(u));
    }
    std::vector<std::vector<int>> order;
    while (!ready.empty()) {
      const auto unit = static_cast<size_t>(ready.top().second);
      ready.pop();
      order.push_back(units[unit]);
      for (const int reader : readers[unit]) {
        const auto r = static_cast<size_t>(reader);
        if (--missing[r] == 0) ready.emplace(units[r][0], reader);
      }
    }
    assert(order.size() == units.size());
    return order;
  }

  /// A subgraph and the values of the whole graph that it reads.
  struct SubgraphContent {
    ir::Graph graph;
    std::vector<ValueId> boundary;
  };
  Result<SubgraphContent> content(const std::vector<int>& ops, const engine::PartNpu& engine) const;
  [[nodiscard]] std::vector<std::pair<size_t, size_t>> states_of(
      const std::vector<ValueId>& boundary, const std::vector<ValueId>& results) const;
  Result<Subgraph> build(const std::vector<int>& ops, const engine::PartNpu& engine, int index,
                         ir::Rewriter* outside);
  bool read_outside(ValueId value, const std::set<int>& inside) const;
  Result<ValueId> add_transpose_hw(ValueId id, const std::string& name, ir::Graph* graph);

  const ir::Graph& graph_;
  std::span<const engine::PartNpu> engines_;
  bool keep_small_;
  std::optional<int64_t> minimum_steps_;
  std::vector<int> producers_;
  std::vector<std::vector<int>> readers_;  // readers of the result, by operator
  std::vector<int> engine_;
  std::vector<std::string> reasons_;
  std::map<Key, std::vector<int>> subgraphs_;
  std::vector<std::pair<std::string, std::string>> added_;
};

bool has_window(const ir::Graph& graph, const std::vector<int>& ops) {
  return std::ranges::any_of(
      ops, [&](int op) { return ir::is_window(graph.ops()[static_cast<size_t>(op)].kind); });
}

/// Returns the dimension order of an image at the inputs and outputs of a subgraph.
ir::DimOrder boundary_order(const ir::Type& type, bool channels_last) {
  if (channels_last && type.shape.size() == 4) return ir::channels_last_order();
  return {};
}

ir::Shape transposed_hw_shape(ir::Shape shape) {
  std::swap(shape[2], shape[3]);
  return shape;
}

/// Adds the transposition of an image (H and W swapped).
Result<ValueId> Partitioner::add_transpose_hw(ValueId id, const std::string& name,
                                              ir::Graph* graph) {
  const ir::Type type = graph->type(id);
  if (type.shape.size() != 4) return id;
  const bool line = type.shape[2] == 1 || type.shape[3] == 1;
  if (!line)
    added_.emplace_back(
        name, "transposed (H and W swapped): the NPU saves more cycles than the transpose costs");
  const ir::Graph::ResultHint hint{name, {}, type.quant};
  if (line) {
    return graph->add(OpKind::reshape, {id},
                      {{ir::attr::shape, partition::transposed_hw_shape(type.shape)}}, {}, hint);
  }
  return graph->add(OpKind::permute, {id}, {{ir::attr::dims, std::vector<int64_t>{0, 1, 3, 2}}}, {},
                    hint);
}

bool Partitioner::read_outside(ValueId value, const std::set<int>& inside) const {
  for (const ValueId result : graph_.results()) {
    if (result == value) return true;
  }
  for (size_t i = 0; i < graph_.ops().size(); ++i) {
    if (inside.contains(static_cast<int>(i))) continue;
    if (std::ranges::find(graph_.ops()[i].inputs, value) != graph_.ops()[i].inputs.end())
      return true;
  }
  return false;
}

Result<Partitioner::SubgraphContent> Partitioner::content(const std::vector<int>& ops,
                                                          const engine::PartNpu& engine) const {
  const bool channels_last = engine.engine->channels_last && has_window(graph_, ops);
  const std::set<int> inside(ops.begin(), ops.end());
  SubgraphContent subgraph;
  std::map<ValueId, ValueId> mapped;
  for (const int number : ops) {
    const Op& op = graph_.ops()[static_cast<size_t>(number)];
    std::vector<ValueId> inputs;
    for (const ValueId input : op.inputs) {
      if (input != ir::kNoValue && !mapped.contains(input)) {
        const ir::Value& value = graph_.value(input);
        if (value.constant) {
          mapped[input] = subgraph.graph.add_constant(value.name, value.constant, value.type.quant);
        } else {
          ir::Type type = value.type;
          type.dim_order = boundary_order(type, channels_last);
          mapped[input] = subgraph.graph.add_input(value.name, type);
          subgraph.boundary.push_back(input);
        }
      }
      inputs.push_back(input == ir::kNoValue ? input : mapped[input]);
    }
    const ir::Value& result = graph_.value(op.output);
    const bool leaves = read_outside(op.output, inside);
    const ir::DimOrder order = leaves ? boundary_order(result.type, channels_last) : ir::DimOrder{};
    THIMBLE_TRY(mapped[op.output], subgraph.graph.add(op.kind, inputs, op.attrs, op.source,
                                                      {result.name, order, result.type.quant}));
    if (leaves) subgraph.graph.add_output(mapped[op.output]);
  }
  return subgraph;
}

std::vector<std::pair<size_t, size_t>> Partitioner::states_of(
    const std::vector<ValueId>& boundary, const std::vector<ValueId>& results) const {
  std::vector<std::pair<size_t, size_t>> pairs;
  for (const ir::State& state : graph_.states()) {
    const auto input = std::ranges::find(boundary, state.value);
    const auto output = std::ranges::find(results, state.next);
    if (input == boundary.end() || output == results.end()) continue;
    pairs.emplace_back(input - boundary.begin(), output - results.begin());
  }
  return pairs;
}

Result<Subgraph> Partitioner::build(const std::vector<int>& ops, const engine::PartNpu& engine,
                                    int index, ir::Rewriter* outside) {
  const bool channels_last = engine.engine->channels_last && has_window(graph_, ops);
  const std::set<int> inside(ops.begin(), ops.end());
  THIMBLE_TRY(SubgraphContent made, content(ops, engine));
  const std::vector<ValueId>& boundary = made.boundary;
  Subgraph subgraph;
  subgraph.engine = &engine;
  subgraph.ops = ops;
  subgraph.graph = std::move(made.graph);
  subgraph.graph.name = fmt::format("{}_{}", graph_.name, index);
  if (engine.engine->adapt != nullptr) {
    THIMBLE_TRY(subgraph.graph, engine.engine->adapt(subgraph.graph, engine));
  }
  std::vector<ValueId> results;
  std::vector<ValueId> arguments = outside->map(boundary);
  bool is_transposed = false;
  if (engine.engine->transposed_hw != nullptr) {
    if (auto other = engine.engine->transposed_hw(subgraph.graph, engine)) {
      subgraph.graph = *std::move(other);
      is_transposed = true;
      for (ValueId& argument : arguments) {
        const std::string name = outside->to().value(argument).name + "_turned";
        THIMBLE_TRY(argument, add_transpose_hw(argument, name, &outside->to()));
      }
    }
  }
  int output = 0;
  for (const int number : ops) {
    const Op& op = graph_.ops()[static_cast<size_t>(number)];
    if (!read_outside(op.output, inside)) continue;
    const ir::Value& result = graph_.value(op.output);
    const bool turns = is_transposed && result.type.shape.size() == 4;
    const ir::Attrs attrs = {
        {ir::attr::subgraph, int64_t{index}},
        {ir::attr::output, int64_t{output++}},
        {ir::attr::type, static_cast<int64_t>(result.type.dtype)},
        {ir::attr::shape,
         turns ? partition::transposed_hw_shape(result.type.shape) : result.type.shape},
        {ir::attr::nhwc, int64_t{channels_last ? 1 : 0}}};
    const ir::DimOrder order = boundary_order(result.type, channels_last);
    THIMBLE_TRY(ValueId call, outside->to().add(OpKind::delegate, arguments, attrs, op.source,
                                                {result.name + (turns ? "_turned" : ""), order,
                                                 result.type.quant}));
    if (turns) {
      THIMBLE_TRY(call, add_transpose_hw(call, result.name, &outside->to()));
    }
    outside->set(op.output, call);
    results.push_back(op.output);
  }
  subgraph.states = states_of(boundary, results);
  return subgraph;
}

}  // namespace

Result<Partition> partition(const ir::Graph& graph, std::span<const engine::PartNpu> engines,
                            const Choices& choices) {
  assert(choices.keep_off.empty() || choices.keep_off.size() == graph.ops().size());
  Partitioner cutter(graph, engines, choices);
  cutter.select_engines(choices.keep_off);
  cutter.remove_unprofitable();
  return cutter.cut();
}

namespace {

/// Copies a subgraph into the surrounding graph and returns its outputs there.
Result<std::vector<ValueId>> inline_subgraph(const ir::Graph& subgraph, std::vector<ValueId> inputs,
                                             ir::Graph* to) {
  std::vector<ValueId> mapped(subgraph.value_count(), ir::kNoValue);
  for (size_t i = 0; i < subgraph.inputs().size(); ++i) {
    mapped[static_cast<size_t>(subgraph.inputs()[i])] = inputs[i];
  }
  for (const Op& op : subgraph.ops()) {
    std::vector<ValueId> operands;
    for (const ValueId input : op.inputs) {
      if (input != ir::kNoValue && mapped[static_cast<size_t>(input)] == ir::kNoValue) {
        const ir::Value& constant = subgraph.value(input);
        mapped[static_cast<size_t>(input)] =
            to->add_constant(constant.name, constant.constant, constant.type.quant);
      }
      operands.push_back(input == ir::kNoValue ? input : mapped[static_cast<size_t>(input)]);
    }
    const ir::Value& result = subgraph.value(op.output);
    THIMBLE_TRY(mapped[static_cast<size_t>(op.output)],
                to->add(op.kind, std::move(operands), op.attrs, op.source,
                        {result.name, {}, result.type.quant}));
  }
  std::vector<ValueId> outputs;
  for (const ValueId output : subgraph.outputs()) {
    outputs.push_back(mapped[static_cast<size_t>(output)]);
  }
  return outputs;
}

}  // namespace

Result<ir::Graph> inline_subgraphs(const ir::Graph& graph, std::span<const Subgraph> subgraphs) {
  ir::Rewriter rewriter(graph);
  std::map<int64_t, std::vector<ValueId>> outputs;  // key: index of the subgraph
  for (const Op& op : graph.ops()) {
    if (op.kind != OpKind::delegate) {
      THIMBLE_CHECK(rewriter.copy(op));
      continue;
    }
    const int64_t index = op.get(ir::attr::subgraph);
    if (!outputs.contains(index)) {
      const ir::Graph& subgraph = subgraphs[static_cast<size_t>(index)].graph;
      THIMBLE_TRY(outputs[index],
                  inline_subgraph(subgraph, rewriter.map(op.inputs), &rewriter.to()));
    }
    rewriter.set(op.output, outputs[index][static_cast<size_t>(op.get(ir::attr::output))]);
  }
  return rewriter.finish();
}

}  // namespace thimble::partition
