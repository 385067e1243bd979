// SPDX-License-Identifier: Apache-2.0
#include "report/op_graph.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "driver/op_rows.h"
#include "ir/op.h"
#include "partition/partition.h"

namespace thimble::report {
namespace {

/// Nodes whose results a value consists of.
using Sources = std::vector<size_t>;

/// Name of the operator as a user knows it: "conv2d" for qconv2d.
std::string title_of(const ir::Op& op) {
  const std::string_view name = ir::op_name(op.kind);
  const bool integer_form = name.size() > 2 && name[0] == 'q' && !name.starts_with("quant");
  return std::string(integer_form ? name.substr(1) : name);
}

/// Returns "3x3/2 dw" for a depthwise convolution with a window of 3 x 3 and stride 2.
std::string window_of(const ir::Graph& graph, const ir::Op& op) {
  const ir::OpCategory category = ir::category_of(op.kind);
  const bool conv = category == ir::OpCategory::kConv || category == ir::OpCategory::kConvTranspose;
  std::string_view groups;
  std::vector<int64_t> size;
  if (conv) {
    const ir::Shape& weights = graph.type(op.inputs[1]).shape;
    size.assign(weights.begin() + std::min<std::ptrdiff_t>(2, std::ssize(weights)), weights.end());
    if (op.get(ir::attr::groups) > 1) {
      const bool depthwise = op.get(ir::attr::groups) == graph.type(op.inputs[0]).shape[1];
      groups = depthwise ? " dw" : " grouped";
    }
  } else if (ir::has_attr(op.kind, ir::attr::kernel)) {
    size = op.get(ir::attr::kernel);
  }
  if (size.empty()) return "";
  std::string text = fmt::format("{}", fmt::join(size, "\xC3\x97"));
  const std::vector<int64_t>& stride = op.get(ir::attr::stride);
  if (std::ranges::any_of(stride, [](int64_t step) { return step != 1; })) {
    const bool equal = std::ranges::all_of(stride, [&](int64_t step) { return step == stride[0]; });
    text += equal ? fmt::format("/{}", stride[0]) : fmt::format("/{}", fmt::join(stride, ","));
  }
  return text + std::string(groups);
}

class Builder {
 public:
  explicit Builder(const driver::Compiled& compiled) : compiled_(compiled) {}

  OpGraph build() {
    const ir::Graph& graph = compiled_.lowered.graph;
    std::vector<Sources> sources(graph.value_count());
    for (const ir::ValueId input : graph.inputs()) {
      sources[ir::index_of(input)] = {add(GraphNode::Kind::kInput, "input", graph.value(input), 0)};
    }
    for (const ir::State& state : graph.states()) {
      sources[ir::index_of(state.value)] = {
          add(GraphNode::Kind::kState, "state", graph.value(state.value), 0)};
    }
    add_rows();
    for (const ir::Op& op : graph.ops()) {
      if (op.kind == ir::OpKind::delegate) {
        connect_subgraph(op, sources);
      } else {
        sources[ir::index_of(op.output)] = connect(op, sources);
      }
    }
    for (const ir::ValueId output : graph.outputs()) {
      connect_all(sources[ir::index_of(output)],
                  add(GraphNode::Kind::kOutput, "output", graph.value(output), 0));
    }
    for (const ir::State& state : graph.states()) {
      if (state.next == state.value) continue;
      connect_all(sources[ir::index_of(state.next)],
                  add(GraphNode::Kind::kNextState, "next state", graph.value(state.value), 0));
    }
    std::ranges::sort(result_.edges);
    result_.edges.erase(std::unique(result_.edges.begin(), result_.edges.end()),
                        result_.edges.end());
    return std::move(result_);
  }

 private:
  size_t add(GraphNode::Kind kind, std::string title, const ir::Value& value, size_t row) {
    GraphNode node;
    node.kind = kind;
    node.row = row;
    node.title = std::move(title);
    node.name = value.name;
    node.dtype = value.type.dtype;
    node.shape = value.type.shape;
    result_.nodes.push_back(std::move(node));
    return result_.nodes.size() - 1;
  }

  void add_rows() {
    const std::vector<driver::RowOp> rows = driver::row_ops(compiled_.lowered, compiled_.subgraphs);
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto& [graph, op, call, delegate_row] = rows[i];
      const size_t node = add(GraphNode::Kind::kOp, title_of(*op), graph->value(op->output), i);
      result_.nodes[node].window = window_of(*graph, *op);
      nodes_of_[op].push_back(node);
    }
  }

  void connect_all(const Sources& from, size_t to) {
    for (const size_t source : from) result_.edges.push_back({source, to});
  }

  /// Adds the edges to the nodes of an operator. Returns the sources of its result.
  Sources connect(const ir::Op& op, const std::vector<Sources>& sources) {
    Sources operands;
    for (const ir::ValueId input : op.inputs) {
      if (input == ir::kNoValue) continue;
      const Sources& of_input = sources[ir::index_of(input)];
      operands.insert(operands.end(), of_input.begin(), of_input.end());
    }
    const auto found = nodes_of_.find(&op);
    if (found == nodes_of_.end()) return operands;  // a view
    for (const size_t node : found->second) connect_all(operands, node);
    return found->second;
  }

  /// A subgraph has a `delegate` operator per result; the first one adds the edges.
  void connect_subgraph(const ir::Op& op, std::vector<Sources>& sources) {
    const auto index = static_cast<size_t>(op.get(ir::attr::subgraph));
    const ir::Graph& subgraph = compiled_.subgraphs[index].graph;
    const auto [found, first] = outputs_of_.try_emplace(index);
    if (first) {
      std::vector<Sources> inner(subgraph.value_count());
      for (size_t i = 0; i < subgraph.inputs().size(); ++i) {
        inner[ir::index_of(subgraph.inputs()[i])] = sources[ir::index_of(op.inputs[i])];
      }
      for (const ir::Op& each : subgraph.ops()) {
        inner[ir::index_of(each.output)] = connect(each, inner);
      }
      for (const ir::ValueId output : subgraph.outputs()) {
        found->second.push_back(inner[ir::index_of(output)]);
      }
    }
    sources[ir::index_of(op.output)] = found->second[static_cast<size_t>(op.get(ir::attr::output))];
  }

  const driver::Compiled& compiled_;
  OpGraph result_;
  std::map<const ir::Op*, Sources> nodes_of_;
  std::map<size_t, std::vector<Sources>> outputs_of_;  // per subgraph
};

}  // namespace

OpGraph op_graph(const driver::Compiled& compiled) {
  return Builder(compiled).build();
}

}  // namespace thimble::report
