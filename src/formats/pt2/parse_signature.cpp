// SPDX-License-Identifier: Apache-2.0
#include <cassert>
#include <utility>

#include "formats/pt2/parse_argument.h"
#include "formats/pt2/parse_graph.h"
#include "formats/pt2/parse_list.h"

namespace thimble::formats::pt2 {

using json::Value;

namespace {

/// Reads the graph value of a spec's `arg`. For all kinds except user inputs and outputs it is a
/// bare `{"name": ...}`.
Status set_value_name(const Value& spec, std::string& value_name) {
  THIMBLE_TRY(const Value arg, spec.at("arg"));
  THIMBLE_TRY(value_name, name_at(arg, "name"));
  return ok();
}

Status set_user_value_name(const Value& spec, std::string& value_name) {
  THIMBLE_TRY(const Value arg, spec.at("arg"));
  THIMBLE_TRY(const Argument argument, parse_argument(arg));
  return for_each_name(argument, [&](const std::string& name, bool) {
    value_name = name;
    return ok();
  });
}

template <typename Kind>
struct SpecRow {
  std::string_view tag;
  Kind kind;
  std::string_view target_key;  // empty: the kind has no target
};

constexpr SpecRow<InputKind> kInputRows[] = {
    {"user_input", InputKind::kUserInput, ""},
    {"parameter", InputKind::kParameter, "parameter_name"},
    {"buffer", InputKind::kBuffer, "buffer_name"},
    {"tensor_constant", InputKind::kTensorConstant, "tensor_constant_name"},
    {"custom_obj", InputKind::kCustomObject, "custom_obj_name"},
    {"token", InputKind::kToken, ""},
    {"constant_input", InputKind::kConstant, ""},
};

constexpr SpecRow<OutputKind> kOutputRows[] = {
    {"user_output", OutputKind::kUserOutput, ""},
    {"loss_output", OutputKind::kLoss, ""},
    {"buffer_mutation", OutputKind::kBufferMutation, "buffer_name"},
    {"user_input_mutation", OutputKind::kUserInputMutation, "user_input_name"},
    {"parameter_mutation", OutputKind::kParameterMutation, "parameter_name"},
    {"gradient_to_parameter", OutputKind::kGradientToParameter, "parameter_name"},
    {"gradient_to_user_input", OutputKind::kGradientToUserInput, "user_input_name"},
    {"token", OutputKind::kToken, ""},
};

template <typename Kind, size_t count>
Result<SpecRow<Kind>> find_row(const SpecRow<Kind> (&rows)[count], const Value& value,
                               std::string_view tag) {
  for (const SpecRow<Kind>& row : rows) {
    if (row.tag == tag) return row;
  }
  return value.error(fmt::format("schema {} has no such signature kind", kSchemaMajor));
}

Result<InputSpec> parse_input_spec(const Value& value) {
  THIMBLE_TRY(const Value::Member tagged, value.tagged());
  const Value& body = tagged.value;
  THIMBLE_TRY(const SpecRow<InputKind> row, find_row(kInputRows, body, tagged.key));
  InputSpec spec;
  spec.kind = row.kind;
  if (row.kind == InputKind::kConstant) {
    THIMBLE_TRY(spec.target, name_at(body, "name"));
    THIMBLE_TRY(const Value constant, body.at("value"));
    THIMBLE_TRY(spec.constant, parse_argument(constant));
    return spec;
  }
  if (row.kind == InputKind::kUserInput) {
    THIMBLE_CHECK(set_user_value_name(body, spec.value_name));
  } else {
    THIMBLE_CHECK(set_value_name(body, spec.value_name));
  }
  if (!row.target_key.empty()) {
    THIMBLE_TRY(spec.target, name_at(body, row.target_key));
  }
  if (row.kind == InputKind::kBuffer) {
    THIMBLE_TRY(const Value persistent, body.at("persistent"));
    THIMBLE_TRY(spec.is_persistent, persistent.as_bool());
  }
  return spec;
}

Result<OutputSpec> parse_output_spec(const Value& value) {
  THIMBLE_TRY(const Value::Member tagged, value.tagged());
  const Value& body = tagged.value;
  THIMBLE_TRY(const SpecRow<OutputKind> row, find_row(kOutputRows, body, tagged.key));
  OutputSpec spec;
  spec.kind = row.kind;
  if (row.kind == OutputKind::kUserOutput) {
    THIMBLE_CHECK(set_user_value_name(body, spec.value_name));
  } else {
    THIMBLE_CHECK(set_value_name(body, spec.value_name));
  }
  if (!row.target_key.empty()) {
    THIMBLE_TRY(spec.target, name_at(body, row.target_key));
  }
  return spec;
}

/// Returns the name of the value of a graph input or output; empty if the argument has no name.
std::string value_name(const Argument& argument) {
  std::string result;
  const Status status = for_each_name(argument, [&](const std::string& name, bool) {
    result = name;
    return ok();
  });
  assert(status.ok());
  return result;
}

/// Checks that each spec matches the graph input or output at the same index.
template <typename Spec>
Status check_pairs(const std::vector<Spec>& specs, const std::vector<Argument>& values,
                   const Value& list) {
  if (specs.size() != values.size()) {
    return list.error(
        fmt::format("{} entries, but the graph has {} such values", specs.size(), values.size()));
  }
  THIMBLE_TRY(const Value::Elements elements, list.elements());
  size_t i = 0;
  for (const Value& element : elements) {
    const std::string in_graph = value_name(values[i]);
    if (specs[i].value_name != in_graph) {
      return element.error(fmt::format("names \"{}\", but the graph has \"{}\" at this index",
                                       specs[i].value_name, in_graph));
    }
    ++i;
  }
  return ok();
}

}  // namespace

Status parse_signature(const Value& signature, Model& model) {
  THIMBLE_TRY(const Value inputs, signature.at("input_specs"));
  THIMBLE_TRY(model.input_specs, parse_list<parse_input_spec>(inputs));
  THIMBLE_CHECK(check_pairs(model.input_specs, model.graph.inputs, inputs));
  THIMBLE_TRY(const Value outputs, signature.at("output_specs"));
  THIMBLE_TRY(model.output_specs, parse_list<parse_output_spec>(outputs));
  return check_pairs(model.output_specs, model.graph.outputs, outputs);
}

}  // namespace thimble::formats::pt2
