// SPDX-License-Identifier: Apache-2.0
#include "driver/annotate.h"

#include <algorithm>
#include <map>
#include <set>

#include "driver/engines.h"
#include "driver/recipe.h"
#include "driver/stages.h"
#include "engine/part.h"
#include "ir/dce.h"
#include "passes/hoist_clamp.h"
#include "passes/pipeline.h"
#include "passes/uses.h"
#include "quant/annotate.h"
#include "quant/pins.h"
#include "quant/plan.h"

namespace thimble::driver {
namespace {

using ir::Graph;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

constexpr std::string_view kHoistClamp = "hoist_clamp";
constexpr std::string_view kMergeLinear = "merge_linear";

bool is_weighted(OpKind kind) {
  return kind == OpKind::conv2d || kind == OpKind::conv_transpose2d || kind == OpKind::linear;
}

/// The export's nodes with one result, and the operators of each.
class Nodes {
 public:
  explicit Nodes(const Graph& imported) : imported_(imported) {
    const passes::Uses uses(imported);
    std::map<std::string, std::vector<std::string>> results;
    for (const Op& op : imported.ops()) {
      if (ops_[op.source.node].empty()) order_.push_back(op.source.node);
      ops_[op.source.node].push_back(&op);
      node_of_.emplace(imported.value(op.output).name, op.source.node);
      const auto& readers = uses.readers(op.output);
      const bool used =
          uses.is_output(op.output) || std::ranges::any_of(readers, [&](int reader) {
            return imported.ops()[static_cast<size_t>(reader)].source.node != op.source.node;
          });
      if (used) results[op.source.node].push_back(imported.value(op.output).name);
    }
    for (const auto& [node, values] : results) {
      if (values.size() == 1) add_result(uses, node, values.front());
    }
    for (const ValueId id : imported.inputs()) {
      result_of_[imported.value(id).name] = imported.value(id).name;
    }
  }

  [[nodiscard]] const std::vector<std::string>& order() const { return order_; }
  [[nodiscard]] const std::vector<const Op*>& ops(const std::string& node) const {
    return ops_.at(node);
  }
  /// Returns the node whose only result is this value; null if there is none.
  [[nodiscard]] const std::string* ending_at(const std::string& value) const {
    const auto found = result_of_.find(value);
    return found == result_of_.end() ? nullptr : &found->second;
  }
  /// Returns the node that computes the value; null for values of the passes.
  [[nodiscard]] const std::string* computing(const std::string& value) const {
    const auto found = node_of_.find(value);
    return found == node_of_.end() ? nullptr : &found->second;
  }
  /// Returns the float results of other nodes that the node reads.
  [[nodiscard]] std::vector<std::string> operands(const std::string& node) const {
    std::vector<std::string> names;
    for (const Op* op : ops_.at(node)) {
      for (const ValueId id : op->inputs) {
        if (id == ir::kNoValue || imported_.type(id).dtype != ir::DType::kF32) continue;
        const std::string* producer = computing(imported_.value(id).name);
        if (producer != nullptr && *producer != node) names.push_back(imported_.value(id).name);
      }
    }
    return names;
  }

 private:
  /// Also adds the values of the node that its result only rearranges: conv1d is a conv2d between
  /// two reshapes.
  void add_result(const passes::Uses& uses, const std::string& node, const std::string& value) {
    const Op* producer = *std::ranges::find_if(
        ops_[node], [&](const Op* op) { return imported_.value(op->output).name == value; });
    result_of_[value] = node;
    while (producer->kind == OpKind::reshape || producer->kind == OpKind::permute) {
      producer = uses.producer(producer->inputs[0]);
      if (producer == nullptr || producer->source.node != node) return;
      result_of_[imported_.value(producer->output).name] = node;
    }
  }

  const Graph& imported_;
  std::vector<std::string> order_;
  std::map<std::string, std::vector<const Op*>> ops_;
  std::map<std::string, std::string> result_of_;  // node by value
  std::map<std::string, std::string> node_of_;    // node by value
};

/// Runs the float passes except two. hoist_clamp moves clamps over nodes (hidden_by_clamps()), and
/// merge_linear removes the result of a layer, while PyTorch's graph keeps both layers.
/// `kept` are values that the passes must not replace.
Result<Graph> prepare(const Graph& imported, const std::set<std::string>& kept) {
  Graph current = imported;
  for (size_t i = 0; i < current.value_count(); ++i) {
    const ValueId id = static_cast<ValueId>(i);
    if (kept.contains(current.value(id).name)) current.add_output(id);
  }
  for (const passes::Pass& pass : passes::float_passes()) {
    if (pass.name == kHoistClamp || pass.name == kMergeLinear) continue;
    THIMBLE_TRY(current, passes::run_pass(pass, current));
  }
  return current;
}

/// Returns the values between arithmetic and a clamp that hoist_clamp moves to it: the compiler
/// gives them the parameters of the clamp's result.
Result<std::set<ValueId>> hidden_by_clamps(const Graph& graph) {
  THIMBLE_TRY(const Graph after, passes::hoist_clamp(graph));
  std::map<std::string, std::string> clamped;  // operand of each remaining clamp, by result
  for (const Op& op : after.ops()) {
    if (op.kind != OpKind::clamp) continue;
    clamped[after.value(op.output).name] = after.value(op.inputs[0]).name;
  }
  const passes::Uses uses(graph);
  std::set<ValueId> hidden;
  for (const Op& op : graph.ops()) {
    if (op.kind != OpKind::clamp) continue;
    const auto same = clamped.find(graph.value(op.output).name);
    if (same != clamped.end() && same->second == graph.value(op.inputs[0]).name) continue;
    ValueId id = op.inputs[0];
    std::vector<ValueId> chain{id};
    const Op* producer = uses.producer(id);
    while (producer != nullptr && quant::shares_params(producer->kind)) {
      chain.push_back(producer->inputs[0]);
      producer = uses.producer(producer->inputs[0]);
    }
    // The parameters of a clamp after concat cannot be found from its result.
    if (producer == nullptr || producer->kind == OpKind::concat) continue;
    hidden.insert(chain.begin(), chain.end());
  }
  return hidden;
}

/// Returns results of transposed convolutions that arithmetic per channel reads: it is not merged
/// into weights that PyTorch quantized.
std::set<std::string> unmerged(const Graph& imported) {
  const passes::Uses uses(imported);
  std::set<std::string> names;
  for (const Op& op : imported.ops()) {
    if (op.kind != OpKind::conv_transpose2d) continue;
    const Op* const reader = uses.only_reader(op.output);
    if (reader == nullptr) continue;
    switch (reader->kind) {
      case OpKind::add:
      case OpKind::sub:
      case OpKind::mul:
      case OpKind::div:
        names.insert(imported.value(op.output).name);
        break;
      default:
        break;
    }
  }
  return names;
}

/// One attempt to place every annotated value after a node.
class Placement {
 public:
  Placement(const Nodes& nodes, quant::Annotations annotations, std::set<std::string> hidden)
      : nodes_(nodes), annotations_(std::move(annotations)), uses_(annotations_.graph) {
    const Graph& graph = annotations_.graph;
    for (const quant::Annotation& annotation : annotations_.values) {
      const std::string& name = graph.value(annotation.value).name;
      const std::string* const node = nodes.ending_at(name);
      if (node != nullptr && !hidden.contains(name)) placed_[annotation.value] = *node;
    }
    for (const quant::Annotation& annotation : annotations_.values) {
      const std::string& name = graph.value(annotation.value).name;
      if (!annotation.has_own_range || hidden.contains(name)) continue;
      if (!is_placed(annotation.value)) homeless_.push_back(annotation.value);
    }
  }

  /// Returns the nodes with quantized values that no node ends at.
  [[nodiscard]] std::set<std::string> composite() const {
    std::set<std::string> found;
    for (const ValueId id : homeless_) found.insert(node_of(id));
    return found;
  }

  [[nodiscard]] std::map<std::string, NodeAnnotation> results() const {
    std::map<size_t, std::string> first;  // node by class
    std::map<std::string, NodeAnnotation> all;
    for (const quant::Annotation& annotation : annotations_.values) {
      const auto found = placed_.find(annotation.value);
      if (found == placed_.end()) continue;
      if (all.contains(found->second)) continue;  // another value that the node only rearranges
      ResultAnnotation result{"", annotation.symmetric, annotation.fixed};
      const auto [entry, fresh] = first.emplace(annotation.shares, found->second);
      if (!fresh) result.shares_with = entry->second;
      all[found->second].result = result;
    }
    for (const quant::ConstantOperand& constant : annotations_.constants) {
      const Op& op = annotations_.graph.ops()[constant.op];
      all[op.source.node].constants.push_back(
          {annotations_.graph.value(constant.value).name, constant.symmetric});
    }
    return all;
  }

 private:
  /// Returns true if a node ends at the value, or at a value that only moves its elements: the
  /// compiler then finds the parameters there.
  [[nodiscard]] bool is_placed(ValueId id) const {
    while (!placed_.contains(id)) {
      const Op* const reader = uses_.only_reader(id);
      if (reader == nullptr || !quant::shares_params(reader->kind)) return false;
      id = reader->output;
    }
    return true;
  }

  [[nodiscard]] std::string node_of(ValueId id) const {
    const std::string* const node = nodes_.computing(annotations_.graph.value(id).name);
    if (node != nullptr) return *node;
    const Op* const producer = uses_.producer(id);
    return producer == nullptr ? annotations_.graph.value(id).name : producer->source.node;
  }

  const Nodes& nodes_;
  const quant::Annotations annotations_;
  const passes::Uses uses_;
  std::map<ValueId, std::string> placed_;
  std::vector<ValueId> homeless_;
};

/// Returns the names of these values. pools_to_means keeps names, but not the values' numbers.
std::set<std::string> names_of(const Graph& graph, const std::set<ValueId>& values) {
  std::set<std::string> names;
  for (const ValueId id : values) names.insert(graph.value(id).name);
  return names;
}

WeightsAnnotation weights_of(const Graph& graph, const Op& op, const quant::QuantSpec& spec) {
  WeightsAnnotation weights{graph.value(op.inputs[1]).name, 0};
  const bool per_tensor = spec.linear_weights == quant::LinearWeights::kPerTensor;
  if (op.kind == OpKind::linear && per_tensor) weights.axis.reset();
  if (op.kind == OpKind::conv_transpose2d) {
    // Dimension 1 holds the channels of one group.
    if (op.get(ir::attr::groups) == 1)
      weights.axis = 1;
    else
      weights.axis.reset();
  }
  return weights;
}

void add_weights(const Graph& imported, const quant::QuantSpec& spec,
                 std::map<std::string, NodeAnnotation>* nodes) {
  for (const Op& op : imported.ops()) {
    if (!is_weighted(op.kind) || imported.value(op.inputs[1]).constant == nullptr) continue;
    (*nodes)[op.source.node].weights = weights_of(imported, op, spec);
  }
}

}  // namespace

Result<AnnotatedModel> annotate(const std::filesystem::path& model, const CompileOptions& asked) {
  THIMBLE_TRY(const engine::Part part, engine::find_part(asked.target));
  const CompileOptions options = with_recipe(asked, part.recipe);
  StageFiles none({});
  THIMBLE_TRY(const FloatModel read, import_model(model, options, &none));
  if (quant::is_prequantized(read.imported)) {
    return bad_input("{}: PyTorch quantized this model already", read.name);
  }
  THIMBLE_CHECK(check_options(read, options, part));
  const quant::QuantSpec spec = arithmetic_of(options, part).spec;
  const Graph imported = ir::remove_unused(read.imported);
  const Nodes nodes(imported);
  AnnotatedModel result{read.name, part.name, {}, {}};
  std::set<std::string> kept = unmerged(imported);
  std::set<std::string> composite;
  std::map<std::string, NodeAnnotation> annotated;
  // Each round keeps more values, so this ends.
  for (bool again = true; again;) {
    THIMBLE_TRY(const Graph prepared, prepare(imported, kept));
    THIMBLE_TRY(const std::set<ValueId> hidden, hidden_by_clamps(prepared));
    THIMBLE_TRY(quant::Annotations annotations, quant::annotate(prepared, spec));
    const Placement placement(nodes, std::move(annotations), names_of(prepared, hidden));
    annotated = placement.results();
    composite = placement.composite();
    again = false;
    for (const std::string& node : composite) {
      for (const std::string& value : nodes.operands(node)) {
        again = kept.insert(value).second || again;
      }
    }
  }
  add_weights(imported, spec, &annotated);
  const auto append = [&](const std::string& node, const ir::Source& source) {
    const auto found = annotated.find(node);
    if (found == annotated.end()) return;
    found->second.node = node;
    found->second.source = source;
    result.nodes.push_back(std::move(found->second));
  };
  for (const ValueId id : imported.inputs()) append(imported.value(id).name, {});
  for (const std::string& node : nodes.order()) {
    const ir::Source& source = nodes.ops(node).front()->source;
    append(node, source);
    if (composite.contains(node)) result.decompose.push_back(source);
  }
  return result;
}

std::vector<NodeArithmetic> arithmetic_of_nodes(const Graph& integer_graph) {
  std::vector<NodeArithmetic> all;
  for (const Op& op : integer_graph.ops()) {
    if (op.source.node.empty()) continue;
    std::optional<int64_t> rounding;
    if (ir::has_attr(op.kind, ir::attr::rounding)) rounding = op.get(ir::attr::rounding);
    all.push_back({op.source.node, std::string(ir::op_name(op.kind)), rounding});
  }
  return all;
}

}  // namespace thimble::driver
