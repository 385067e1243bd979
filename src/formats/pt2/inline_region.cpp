// SPDX-License-Identifier: Apache-2.0
#include "formats/pt2/inline_region.h"

#include <fmt/core.h>

#include <algorithm>
#include <type_traits>
#include <utility>

namespace thimble::formats::pt2 {
namespace {

constexpr std::string_view kGradient = "torch.ops.higher_order.wrap_with_set_grad_enabled";
constexpr std::string_view kAutocast = "torch.ops.higher_order.wrap_with_autocast";

using Names = NameMap<std::string>;

void rename(std::string& name, const Names& names) {
  const auto found = names.find(name);
  if (found != names.end()) name = found->second;
}

/// Renames the values that an argument refers to.
struct Renamer {
  const Names& names;

  void operator()(TensorName& tensor) const { rename(tensor.name, names); }
  void operator()(std::optional<TensorName>& tensor) const {
    if (tensor) rename(tensor->name, names);
  }
  template <typename T>
  void operator()(SymScalar<T>& scalar) const {
    if (scalar.is_name()) rename(scalar.name, names);
  }
  void operator()(CustomObject& object) const { rename(object.name, names); }
  void operator()(std::string&) const {}
  template <typename T>
  requires std::is_class_v<T>
  void operator()(std::vector<T>& elements) const {
    for (T& element : elements) (*this)(element);
  }
  template <typename T>
  void operator()(T&) const {}
};

bool all_tensors(const std::vector<Argument>& arguments, std::vector<std::string>& names) {
  return std::all_of(arguments.begin(), arguments.end(),
                     [&](const Argument& argument) { return add_tensors(argument, names); });
}

/// Collects the names that the outputs of a node define.
struct Collector {
  std::vector<std::string>& names;

  void operator()(const TensorName& tensor) const { names.push_back(tensor.name); }
  void operator()(const std::optional<TensorName>& tensor) const {
    if (tensor) names.push_back(tensor->name);
  }
  template <typename T>
  void operator()(const SymScalar<T>& scalar) const {
    if (scalar.is_name()) names.push_back(scalar.name);
  }
  void operator()(const CustomObject& object) const { names.push_back(object.name); }
  void operator()(const std::string&) const {}
  template <typename T>
  requires std::is_class_v<T>
  void operator()(const std::vector<T>& elements) const {
    for (const T& element : elements) (*this)(element);
  }
  template <typename T>
  void operator()(const T&) const {}
};

std::vector<std::string> names_defined_by(const Node& node) {
  std::vector<std::string> names;
  for (const Argument& output : node.outputs) std::visit(Collector{names}, output);
  return names;
}

/// Gives the node the source line and module of `caller` if it has none.
void locate(Node& node, const Node& caller) {
  if (node.source.file.empty()) node.source = caller.source;
  if (node.module_path.empty()) {
    node.module_path = caller.module_path;
    node.module_type = caller.module_type;
  }
}

/// Returns a node that gives a tensor a second name.
Node alias(const std::string& from, const std::string& to, const Node& caller) {
  Node node;
  node.name = to;
  node.target = "torch.ops.aten.alias.default";
  node.inputs.push_back({"self", TensorName{from}, false});
  node.outputs.emplace_back(TensorName{to});
  locate(node, caller);
  return node;
}

}  // namespace

bool is_region(const Node& node, size_t subgraph) {
  if (node.target == kGradient) return subgraph == 1;
  if (node.target != kAutocast || subgraph != 4) return false;
  const auto* enabled = std::get_if<bool>(&node.inputs[2].value);
  return enabled != nullptr && !*enabled;
}

bool add_tensors(const Argument& argument, std::vector<std::string>& names) {
  if (const auto* one = std::get_if<TensorName>(&argument)) {
    names.push_back(one->name);
    return true;
  }
  const auto* list = std::get_if<std::vector<TensorName>>(&argument);
  if (list == nullptr) return false;
  for (const TensorName& each : *list) names.push_back(each.name);
  return true;
}

bool inline_subgraph(const Graph& subgraph, const SubgraphCall& call, const Node& node,
                     Graph& graph, UniqueNames& defined) {
  const std::vector<std::string>& results = call.results;
  std::vector<std::string> inner_operands, inner_results;
  if (!all_tensors(subgraph.inputs, inner_operands) ||
      !all_tensors(subgraph.outputs, inner_results)) {
    return false;
  }
  if (call.operands.size() != inner_operands.size() || results.size() != inner_results.size()) {
    return false;
  }
  Names names;
  for (size_t i = 0; i < inner_operands.size(); ++i) names[inner_operands[i]] = call.operands[i];
  const auto is_operand = [&](const std::string& name) { return names.contains(name); };
  // A result of the subgraph gets the name of the node's result; a second name needs an alias.
  std::vector<bool> needs_alias(results.size(), true);
  Names own;
  for (size_t i = 0; i < results.size(); ++i) {
    if (is_operand(inner_results[i])) continue;
    needs_alias[i] = !own.emplace(inner_results[i], results[i]).second;
  }
  names.insert(own.begin(), own.end());
  for (const Node& inner : subgraph.nodes) {
    for (const std::string& name : names_defined_by(inner)) {
      if (names.contains(name)) continue;
      names[name] = defined.add(name, kRegionSeparator);
    }
  }
  for (const auto& [name, meta] : subgraph.tensor_values) {
    std::string renamed = name;
    rename(renamed, names);
    graph.tensor_values.emplace(std::move(renamed), meta);
  }
  for (const auto& [name, value] : subgraph.sym_int_values) {
    std::string renamed = name;
    rename(renamed, names);
    graph.sym_int_values.emplace(std::move(renamed), value);
  }
  for (const Node& original : subgraph.nodes) {
    Node inner = original;
    for (NamedArgument& input : inner.inputs) std::visit(Renamer{names}, input.value);
    for (Argument& output : inner.outputs) std::visit(Renamer{names}, output);
    locate(inner, node);
    graph.nodes.push_back(std::move(inner));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (!needs_alias[i]) continue;
    if (const TensorMeta* meta = subgraph.tensor(inner_results[i])) {
      graph.tensor_values.emplace(results[i], *meta);
    }
    graph.nodes.push_back(alias(names.at(inner_results[i]), results[i], node));
  }
  return true;
}

bool inline_region(const Node& node, size_t subgraph, Graph& graph, UniqueNames& defined) {
  SubgraphCall call;
  for (size_t i = subgraph + 1; i < node.inputs.size(); ++i) {
    if (!add_tensors(node.inputs[i].value, call.operands)) return false;
  }
  if (!all_tensors(node.outputs, call.results)) return false;
  const auto& region = std::get<Subgraph>(node.inputs[subgraph].value);
  return inline_subgraph(*region.graph, call, node, graph, defined);
}

}  // namespace thimble::formats::pt2
