// SPDX-License-Identifier: Apache-2.0
#include "formats/pt2/program.h"

#include <array>

#include <fmt/format.h>

namespace thimble::formats::pt2 {

namespace {

struct ScalarTypeRow {
  std::string_view name = "unknown";
  int64_t size_bytes = 0;
};

ScalarTypeRow row(ScalarType type) {
  switch (type) {
    case ScalarType::kUnknown:
      break;
    case ScalarType::kUint8:
      return {"uint8", 1};
    case ScalarType::kInt8:
      return {"int8", 1};
    case ScalarType::kInt16:
      return {"int16", 2};
    case ScalarType::kInt32:
      return {"int32", 4};
    case ScalarType::kInt64:
      return {"int64", 8};
    case ScalarType::kFloat16:
      return {"float16", 2};
    case ScalarType::kFloat32:
      return {"float32", 4};
    case ScalarType::kFloat64:
      return {"float64", 8};
    case ScalarType::kComplex32:
      return {"complex32", 4};
    case ScalarType::kComplex64:
      return {"complex64", 8};
    case ScalarType::kComplex128:
      return {"complex128", 16};
    case ScalarType::kBool:
      return {"bool", 1};
    case ScalarType::kBfloat16:
      return {"bfloat16", 2};
    case ScalarType::kUint16:
      return {"uint16", 2};
    case ScalarType::kFloat8E4m3fn:
      return {"float8_e4m3fn", 1};
    case ScalarType::kFloat8E5m2:
      return {"float8_e5m2", 1};
    case ScalarType::kFloat8E4m3fnuz:
      return {"float8_e4m3fnuz", 1};
    case ScalarType::kFloat8E5m2fnuz:
      return {"float8_e5m2fnuz", 1};
    case ScalarType::kFloat8E8m0fnu:
      return {"float8_e8m0fnu", 1};
    case ScalarType::kUint32:
      return {"uint32", 4};
    case ScalarType::kUint64:
      return {"uint64", 8};
  }
  return {};
}

/// Indexed like the alternatives of the variant.
constexpr std::array<std::string_view, 26> kKindNames = {
    "none",        "tensor",        "tensors",    "optional_tensors",
    "int",         "ints",          "float",      "floats",
    "bool",        "bools",         "string",     "strings",
    "scalar_type", "memory_format", "layout",     "device",
    "sym_int",     "sym_ints",      "sym_float",  "sym_floats",
    "sym_bool",    "sym_bools",     "custom_obj", "operator",
    "graph",       "unknown"};
static_assert(kKindNames.size() == std::variant_size_v<Argument>);

/// Shortens sympy's "Symbol('s77', positive=True, integer=True)" to "s77" for messages.
std::string short_expression(std::string_view expression) {
  constexpr std::string_view kSymbol = "Symbol('";
  std::string text;
  while (true) {
    const size_t start = expression.find(kSymbol);
    text += expression.substr(0, start);
    if (start == std::string_view::npos) return text;
    expression.remove_prefix(start + kSymbol.size());
    text += expression.substr(0, expression.find('\''));
    const size_t end = expression.find(')');
    if (end == std::string_view::npos) return text;
    expression.remove_prefix(end + 1);
  }
}

}  // namespace

std::string_view name(ScalarType type) {
  return row(type).name;
}
int64_t size_bytes(ScalarType type) {
  return row(type).size_bytes;
}

std::string describe(const TensorMeta& meta) {
  std::string text = fmt::format("{}[", name(meta.dtype));
  for (size_t i = 0; i < meta.sizes.size(); ++i) {
    const SymInt& size = meta.sizes[i];
    text += i ? "," : "";
    text += size.is_symbolic() ? short_expression(size.expression) : fmt::format("{}", size.value);
  }
  return text + "]";
}

std::string_view kind_name(const Argument& argument) {
  if (const auto* unknown = std::get_if<UnknownArgument>(&argument)) {
    const std::string_view tag = unknown->tag;
    return tag.starts_with("as_") ? tag.substr(3) : tag;
  }
  return kKindNames[argument.index()];
}

const Argument* Node::input(std::string_view input_name) const {
  for (const NamedArgument& argument : inputs) {
    if (argument.name == input_name) return &argument.value;
  }
  return nullptr;
}

const TensorMeta* Graph::tensor(std::string_view value_name) const {
  const auto found = tensor_values.find(value_name);
  return found == tensor_values.end() ? nullptr : &found->second;
}

}  // namespace thimble::formats::pt2
