// SPDX-License-Identifier: Apache-2.0
#include "driver/engine_nodes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "driver/engines.h"
#include "driver/recipe.h"
#include "driver/stages.h"
#include "engine/part.h"
#include "quant/quantize.h"

namespace thimble::driver {
namespace {

/// Subgraphs of a node's operators, and the first reason of one that no engine runs.
struct NodeSubgraphs {
  std::set<int> subgraphs;  // -1: the core
  std::string reason;
};

std::map<std::string, NodeSubgraphs> subgraphs_of_nodes(const ir::Graph& integer,
                                                        const partition::Partition& split) {
  std::map<std::string, NodeSubgraphs> nodes;
  for (size_t i = 0; i < integer.ops().size(); ++i) {
    const ir::Op& op = integer.ops()[i];
    if (op.kind == ir::OpKind::quantize || op.kind == ir::OpKind::dequantize) continue;
    const int subgraph = split.subgraph_of.empty() ? -1 : split.subgraph_of[i];
    NodeSubgraphs& node = nodes[op.source.node];
    node.subgraphs.insert(subgraph);
    if (node.reason.empty() && i < split.reasons.size()) node.reason = split.reasons[i];
  }
  return nodes;
}

/// Cuts the graph until each node is in one subgraph or on the core.
Result<partition::Partition> cut_whole_nodes(const ir::Graph& integer, const engine::Part& part,
                                             CpuOnlyNodes off, bool keep_small) {
  while (true) {
    THIMBLE_TRY(partition::Partition split, cut(integer, part, off, keep_small));
    const size_t before = off.size();
    for (const auto& [name, node] : subgraphs_of_nodes(integer, split)) {
      if (node.subgraphs.size() < 2 || name.empty()) continue;
      off.try_emplace(name, node.reason.empty()
                                ? "its operators are in several subgraphs"
                                : "one of its operators stays on the core: " + node.reason);
    }
    if (off.size() == before) return split;
  }
}

/// Returns the nodes that only convert between float and integer. Merging does not give them a
/// place: they are at the border of a subgraph, or inside of it.
std::set<std::string> conversions(const ir::Graph& imported) {
  std::set<std::string> nodes, others;
  for (const ir::Op& op : imported.ops()) {
    const bool converts = op.kind == ir::OpKind::quantize || op.kind == ir::OpKind::dequantize ||
                          op.kind == ir::OpKind::dequantize_channels;
    (converts ? nodes : others).insert(op.source.node);
  }
  for (const std::string& node : others) nodes.erase(node);
  return nodes;
}

/// Returns the nodes of which only the conversion of their result to float is left, each with the
/// node whose operator computes the result.
std::map<std::string, std::string> computing_nodes(const ir::Graph& integer) {
  const std::vector<int> producers = integer.producers();
  std::map<std::string, std::string> computing;
  for (const ir::Op& op : integer.ops()) {
    if (op.kind != ir::OpKind::dequantize) continue;
    const int producer = producers[static_cast<size_t>(op.inputs[0])];
    if (producer < 0) continue;
    const std::string& node = integer.ops()[static_cast<size_t>(producer)].source.node;
    if (node != op.source.node) computing.emplace(op.source.node, node);
  }
  return computing;
}

/// Returns the subgraphs of the node's operators, or of those that replace them; null if it has
/// none.
const NodeSubgraphs* find(const std::map<std::string, NodeSubgraphs>& nodes,
                          const OpProvenance& provenance,
                          const std::map<std::string, std::string>& computing, std::string node,
                          bool may_be_replaced) {
  if (!may_be_replaced) {
    const auto found = nodes.find(node);
    return found == nodes.end() ? nullptr : &found->second;
  }
  for (size_t steps = 0; steps <= provenance.nodes().size(); ++steps) {
    const auto found = nodes.find(node);
    if (found != nodes.end()) return &found->second;
    const OpProvenance::Removal* const removal = provenance.removal(node);
    if (removal != nullptr && !removal->replaced_by.empty()) {
      node = removal->replaced_by;
    } else if (const auto by = computing.find(node); by != computing.end()) {
      node = by->second;
    } else {
      return nullptr;
    }
  }
  return nullptr;
}

}  // namespace

Result<EngineNodes> engine_nodes(const std::filesystem::path& path, const CompileOptions& asked) {
  THIMBLE_TRY(const engine::Part part, engine::find_part(asked.target));
  const CompileOptions options = with_recipe(asked, part.recipe);
  StageFiles files(options.save_stages);
  EngineNodes result;
  Result<FloatModel> imported = import_model(path, options, &files, &result.refused);
  if (!imported) return result.refused.empty() ? Result<EngineNodes>(imported.error()) : result;
  FloatModel& model = *imported;
  const Arithmetic arithmetic = arithmetic_of(options, part);
  THIMBLE_TRY(result.refused, quant::unquantized_nodes(model.graph, arithmetic.spec, {}));
  if (!result.refused.empty()) return result;
  THIMBLE_TRY(const quant::QuantizedModel quantized,
              quantize_model(model, {}, options, arithmetic));
  THIMBLE_CHECK(files.save("integer.ir", quantized.graph));
  model.provenance.quantized(model.graph, quantized.graph);
  THIMBLE_TRY(CpuOnlyNodes off, engine_off(model.imported, options, part));
  THIMBLE_TRY(const partition::Partition split,
              cut_whole_nodes(quantized.graph, part, std::move(off), *options.keep_small));
  for (const partition::Subgraph& subgraph : split.subgraphs) {
    result.engines.push_back(subgraph.engine->name);
  }
  const auto nodes = subgraphs_of_nodes(quantized.graph, split);
  const std::map<std::string, std::string> computing = computing_nodes(quantized.graph);
  const std::set<std::string> converting = conversions(model.imported);
  for (const import_pt2::ImportedNode& each : model.provenance.nodes()) {
    EngineNode node{each.source, each.result, -1, ""};
    const std::string& name = each.source.node;
    if (const NodeSubgraphs* const found =
            find(nodes, model.provenance, computing, name, !converting.contains(name))) {
      node.subgraph = *found->subgraphs.begin();
      node.reason = found->reason;
    } else if (const OpProvenance::Removal* const removal = model.provenance.removal(name)) {
      node.reason = removal->reason;
      // No operator is left: the node only passes a value on.
      if (node.result == import_pt2::ImportedNode::Result::kOperators && !converting.contains(name))
        node.result = import_pt2::ImportedNode::Result::kOperand;
    }
    result.nodes.push_back(std::move(node));
  }
  return result;
}

}  // namespace thimble::driver
