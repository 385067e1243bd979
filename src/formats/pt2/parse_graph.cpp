// SPDX-License-Identifier: Apache-2.0
#include "formats/pt2/parse_graph.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "formats/pt2/inline_region.h"
#include "formats/pt2/parse_argument.h"
#include "formats/pt2/parse_list.h"
#include "formats/pt2/source_line.h"
#include "formats/pt2/tree_spec.h"

namespace thimble::formats::pt2 {

using json::Value;

namespace {

// --- graph ---------------------------------------------------------------------------------------

/// Records the names defined so far, so that each node is checked while its location is known.
class GraphParser {
 public:
  Result<Graph> parse(const Value& value);

 private:
  Status parse_inputs(const Value& value);
  Status parse_outputs(const Value& value);
  Result<Node> parse_node(const Value& value);
  static Result<Subgraph> parse_subgraph(const Value& argument);
  Status add_node(const Value& value);
  Status parse_metadata(const Value& node_value, Node& node);
  Status check_used(const Argument& argument, const Value& value) const;
  Status define(const Argument& argument, const Value& value);
  Status check_tensor(const std::string& name, const Value& value) const;

  Graph graph_;
  UniqueNames defined_;
};

Status GraphParser::check_tensor(const std::string& name, const Value& value) const {
  if (graph_.tensor(name)) return ok();
  return value.error(fmt::format("tensor \"{}\" is not in tensor_values", name));
}

Status GraphParser::check_used(const Argument& argument, const Value& value) const {
  return for_each_name(argument, [&](const std::string& name, bool is_tensor) -> Status {
    if (!defined_.contains(name)) {
      return value.error(
          fmt::format("uses \"{}\", which no input and no earlier node defines", name));
    }
    return is_tensor ? check_tensor(name, value) : ok();
  });
}

Status GraphParser::define(const Argument& argument, const Value& value) {
  return for_each_name(argument, [&](const std::string& name, bool is_tensor) -> Status {
    if (!defined_.insert(name)) {
      return value.error(fmt::format("defines \"{}\" a second time", name));
    }
    return is_tensor ? check_tensor(name, value) : ok();
  });
}

Status GraphParser::parse_inputs(const Value& value) {
  THIMBLE_TRY(graph_.inputs, parse_list<parse_argument>(value));
  THIMBLE_TRY(const Value::Elements elements, value.elements());
  size_t i = 0;
  for (const Value& element : elements) THIMBLE_CHECK(define(graph_.inputs[i++], element));
  return ok();
}

Status GraphParser::parse_outputs(const Value& value) {
  THIMBLE_TRY(graph_.outputs, parse_list<parse_argument>(value));
  THIMBLE_TRY(const Value::Elements elements, value.elements());
  size_t i = 0;
  for (const Value& element : elements) THIMBLE_CHECK(check_used(graph_.outputs[i++], element));
  return ok();
}

Status GraphParser::parse_metadata(const Value& node_value, Node& node) {
  THIMBLE_TRY(const std::optional<Value> metadata, node_value.maybe("metadata"));
  if (!metadata) return ok();
  THIMBLE_TRY(const std::optional<Value> trace, metadata->maybe("stack_trace"));
  if (trace) {
    THIMBLE_TRY(const std::string_view text, trace->as_string());
    node.source = parse_stack_trace(text);
    for (std::string* each : {&node.source.file, &node.source.function, &node.source.text}) {
      *each = base::without_control_characters(*each, ' ');
    }
  }
  THIMBLE_TRY(const std::optional<Value> stack, metadata->maybe("nn_module_stack"));
  if (stack) {
    THIMBLE_TRY(const std::string_view text, stack->as_string());
    const ModuleName module = parse_module_stack(text);
    node.module_path = base::without_control_characters(module.path, ' ');
    node.module_type = base::without_control_characters(module.type, ' ');
  }
  return ok();
}

Result<NamedArgument> parse_named_argument(const Value& value) {
  constexpr int64_t kKeyword = 2;
  NamedArgument argument;
  THIMBLE_TRY(argument.name, name_at(value, "name"));
  THIMBLE_TRY(const Value arg, value.at("arg"));
  THIMBLE_TRY(argument.value, parse_argument(arg));
  THIMBLE_TRY(const std::optional<Value> kind, value.maybe("kind"));
  if (kind) {
    THIMBLE_TRY(const int64_t code, kind->as_int());
    argument.is_keyword = code == kKeyword;
  }
  return argument;
}

Result<Node> GraphParser::parse_node(const Value& value) {
  Node node;
  THIMBLE_TRY(node.target, name_at(value, "target"));
  if (node.target.empty()) return value.error("\"target\" is empty");
  THIMBLE_TRY(const std::optional<Value> name, value.maybe("name"));
  if (name) {
    THIMBLE_TRY(node.name, name_at(value, "name"));
  }

  THIMBLE_TRY(const Value inputs, value.at("inputs"));
  THIMBLE_TRY(node.inputs, parse_list<parse_named_argument>(inputs));
  THIMBLE_TRY(const Value::Elements input_values, inputs.elements());
  size_t i = 0;
  for (const Value& input : input_values) {
    THIMBLE_TRY(const Value arg, input.at("arg"));
    Argument& argument = node.inputs[i++].value;
    const auto* unknown = std::get_if<UnknownArgument>(&argument);
    if (unknown != nullptr && unknown->tag == "as_graph") {
      THIMBLE_TRY(argument, parse_subgraph(arg));
    }
    THIMBLE_CHECK(check_used(argument, arg));
  }

  THIMBLE_TRY(const Value outputs, value.at("outputs"));
  THIMBLE_TRY(node.outputs, parse_list<parse_argument>(outputs));
  THIMBLE_TRY(const Value::Elements output_values, outputs.elements());
  i = 0;
  for (const Value& output : output_values) THIMBLE_CHECK(define(node.outputs[i++], output));

  THIMBLE_CHECK(parse_metadata(value, node));
  return node;
}

/// Parses the graph of an argument. The nesting of the text bounds the recursion.
Result<Subgraph> GraphParser::parse_subgraph(const Value& argument) {
  THIMBLE_TRY(const Value::Member tagged, argument.tagged());
  Subgraph subgraph;
  THIMBLE_TRY(subgraph.name, name_at(tagged.value, "name"));
  THIMBLE_TRY(const Value inner, tagged.value.at("graph"));
  THIMBLE_TRY(Graph graph, GraphParser().parse(inner));
  subgraph.graph = std::make_shared<const Graph>(std::move(graph));
  return subgraph;
}

/// Adds a node, or the nodes of its region.
Status GraphParser::add_node(const Value& value) {
  THIMBLE_TRY(Node node, parse_node(value));
  const auto subgraph = std::find_if(node.inputs.begin(), node.inputs.end(), [](const auto& input) {
    return std::holds_alternative<Subgraph>(input.value);
  });
  const auto at = static_cast<size_t>(subgraph - node.inputs.begin());
  const bool region = subgraph != node.inputs.end() && is_region(node, at);
  if (region && inline_region(node, at, graph_, defined_)) return ok();
  if (subgraph != node.inputs.end() && node.source.file.empty()) {
    for (const Node& inner : std::get<Subgraph>(subgraph->value).graph->nodes) {
      if (node.source.file.empty()) node.source = inner.source;
    }
  }
  graph_.nodes.push_back(std::move(node));
  return ok();
}

Result<Graph> GraphParser::parse(const Value& value) {
  THIMBLE_TRY(graph_.tensor_values, map_at<parse_tensor_meta>(value, "tensor_values"));
  THIMBLE_TRY(graph_.sym_int_values, map_at<parse_sym_int>(value, "sym_int_values"));
  THIMBLE_TRY(const Value inputs, value.at("inputs"));
  THIMBLE_CHECK(parse_inputs(inputs));
  THIMBLE_TRY(const Value nodes, value.at("nodes"));
  THIMBLE_TRY(const Value::Elements elements, nodes.elements());
  for (const Value& element : elements) THIMBLE_CHECK(add_node(element));
  THIMBLE_TRY(const Value outputs, value.at("outputs"));
  THIMBLE_CHECK(parse_outputs(outputs));
  return std::move(graph_);
}

// --- other parts of the model
// ---------------------------------------------------------------------

Result<RangeConstraint> parse_range(const Value& value) {
  RangeConstraint range;
  THIMBLE_TRY(const std::optional<Value> min, value.maybe("min_val"));
  if (min) {
    THIMBLE_TRY(range.min, min->as_int());
  }
  THIMBLE_TRY(const std::optional<Value> max, value.maybe("max_val"));
  if (max) {
    THIMBLE_TRY(range.max, max->as_int());
  }
  if (range.min && range.max && *range.min > *range.max) {
    return value.error(fmt::format("the range is empty: {} to {}", *range.min, *range.max));
  }
  return range;
}

Status parse_version(const Value& root, Model& model) {
  THIMBLE_TRY(const Value version, root.at("schema_version"));
  THIMBLE_TRY(const Value major_value, version.at("major"));
  THIMBLE_TRY(const int64_t major, major_value.as_int());
  THIMBLE_TRY(const Value minor_value, version.at("minor"));
  THIMBLE_TRY(model.schema_minor, minor_value.as_int());
  if (major != kSchemaMajor) {
    return version.error(
        fmt::format("schema {}.{} is not supported, expected {}.x: re-export the model "
                    "with PyTorch 2.9 or later",
                    major, model.schema_minor, kSchemaMajor));
  }
  THIMBLE_TRY(const std::optional<Value> torch_version, root.maybe("torch_version"));
  if (torch_version) {
    THIMBLE_TRY(model.torch_version, name_at(root, "torch_version"));
  }
  return ok();
}

Result<Payload> parse_payload(const Value& value) {
  Payload payload;
  THIMBLE_TRY(payload.member, name_at(value, "path_name"));
  THIMBLE_TRY(const Value is_param, value.at("is_param"));
  THIMBLE_TRY(payload.is_parameter, is_param.as_bool());
  THIMBLE_TRY(const Value use_pickle, value.at("use_pickle"));
  THIMBLE_TRY(payload.uses_pickle, use_pickle.as_bool());
  THIMBLE_TRY(const std::optional<Value> meta, value.maybe("tensor_meta"));
  payload.has_tensor = meta.has_value();
  if (meta) {
    THIMBLE_TRY(payload.meta, parse_tensor_meta(*meta));
  }
  return payload;
}

/// Sets the keys of the outputs. Programs that were changed after the export may have another
/// nesting than their outputs; these have no keys.
Status parse_output_keys(const Value& module, Model& model) {
  THIMBLE_TRY(const std::optional<Value> calls, module.maybe("module_call_graph"));
  if (!calls) return ok();
  THIMBLE_TRY(const Value::Elements elements, calls->elements());
  for (const Value& call : elements) {
    THIMBLE_TRY(const std::optional<Value> signature, call.maybe("signature"));
    if (!signature) continue;
    THIMBLE_TRY(const std::string module_name, name_at(call, "fqn"));
    THIMBLE_TRY(const std::optional<Value> spec, signature->maybe("out_spec"));
    if (!module_name.empty() || !spec) continue;
    THIMBLE_TRY(const std::string_view text, spec->as_string());
    const std::vector<std::string> names = leaf_names(text);
    const auto is_user = [](const OutputSpec& output) {
      return output.kind == OutputKind::kUserOutput;
    };
    const auto& outputs = model.output_specs;
    const auto count = std::count_if(outputs.begin(), outputs.end(), is_user);
    if (names.size() != static_cast<size_t>(count)) continue;
    auto name = names.begin();
    for (OutputSpec& output : model.output_specs) {
      if (is_user(output)) output.key = *name++;
    }
  }
  return ok();
}

}  // namespace

Result<Model> parse_model(const json::Document& document) {
  Model model;
  const Value root = document.root();
  // The version is checked first: otherwise another schema would be reported as a damaged file.
  THIMBLE_CHECK(parse_version(root, model));
  THIMBLE_TRY(const Value module, root.at("graph_module"));
  THIMBLE_TRY(const Value graph, module.at("graph"));
  THIMBLE_TRY(model.graph, GraphParser().parse(graph));
  THIMBLE_TRY(const Value signature, module.at("signature"));
  THIMBLE_CHECK(parse_signature(signature, model));
  THIMBLE_CHECK(parse_output_keys(module, model));
  THIMBLE_TRY(model.range_constraints, map_at<parse_range>(root, "range_constraints"));
  return model;
}

Status parse_payloads(const json::Document& document, std::string_view folder,
                      NameMap<Payload>& payloads) {
  THIMBLE_TRY(NameMap<Payload> rows, map_at<parse_payload>(document.root(), "config"));
  for (auto& [fqn, payload] : rows) {
    payload.member.insert(0, folder);
    payloads.emplace(fqn, std::move(payload));
  }
  return ok();
}

}  // namespace thimble::formats::pt2
