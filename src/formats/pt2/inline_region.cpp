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

/// Collects the names of the tensors of an argument; returns false if it is of another kind.
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

/// A node that gives a tensor a second name.
Node alias(const std::string& from, const std::string& to, const Node& region) {
  Node node;
  node.name = to;
  node.target = "torch.ops.aten.alias.default";
  node.inputs.push_back({"self", TensorName{from}, false});
  node.outputs.emplace_back(TensorName{to});
  node.source = region.source;
  node.module_path = region.module_path;
  node.module_type = region.module_type;
  return node;
}

}  // namespace

bool is_region(const Node& node, size_t subgraph) {
  if (node.target == kGradient) return subgraph == 1;
  if (node.target != kAutocast || subgraph != 4) return false;
  const auto* enabled = std::get_if<bool>(&node.inputs[2].value);
  return enabled != nullptr && !*enabled;
}

bool inline_region(const Node& node, size_t subgraph, Graph region, Graph& graph,
                   std::unordered_set<std::string>& defined) {
  std::vector<std::string> operands, results, inner_operands, inner_results;
  for (size_t i = subgraph + 1; i < node.inputs.size(); ++i) {
    if (!add_tensors(node.inputs[i].value, operands)) return false;
  }
  if (!all_tensors(node.outputs, results) || !all_tensors(region.inputs, inner_operands) ||
      !all_tensors(region.outputs, inner_results)) {
    return false;
  }
  if (operands.size() != inner_operands.size() || results.size() != inner_results.size()) {
    return false;
  }
  Names names;
  for (size_t i = 0; i < operands.size(); ++i) names[inner_operands[i]] = operands[i];
  const auto is_operand = [&](const std::string& name) { return names.contains(name); };
  // A result of the region gets the name of the node's result; a second name needs an alias.
  std::vector<bool> needs_alias(results.size(), true);
  Names own;
  for (size_t i = 0; i < results.size(); ++i) {
    if (is_operand(inner_results[i])) continue;
    needs_alias[i] = !own.emplace(inner_results[i], results[i]).second;
  }
  names.insert(own.begin(), own.end());
  for (const Node& inner : region.nodes) {
    for (const std::string& name : names_defined_by(inner)) {
      if (names.contains(name)) continue;
      std::string unique = name;
      for (int suffix = 1; !defined.insert(unique).second; ++suffix) {
        unique = fmt::format("{}_region{}", name, suffix);
      }
      names[name] = unique;
    }
  }
  for (auto& [name, meta] : region.tensor_values) {
    std::string renamed = name;
    rename(renamed, names);
    graph.tensor_values.emplace(std::move(renamed), std::move(meta));
  }
  for (auto& [name, value] : region.sym_int_values) {
    std::string renamed = name;
    rename(renamed, names);
    graph.sym_int_values.emplace(std::move(renamed), std::move(value));
  }
  for (Node& inner : region.nodes) {
    for (NamedArgument& input : inner.inputs) std::visit(Renamer{names}, input.value);
    for (Argument& output : inner.outputs) std::visit(Renamer{names}, output);
    graph.nodes.push_back(std::move(inner));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (needs_alias[i]) graph.nodes.push_back(alias(names.at(inner_results[i]), results[i], node));
  }
  return true;
}

}  // namespace thimble::formats::pt2
