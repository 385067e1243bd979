// SPDX-License-Identifier: Apache-2.0
#include "ir/print.h"

#include <array>
#include <cassert>
#include <charconv>

#include "base/control_characters.h"
#include "ir/text.h"

namespace thimble::ir {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') {
      result += '\\';
      result += letter;
    } else if (letter == '\n') {
      result += "\\n";
    } else if (letter == '\t') {
      result += "\\t";
    } else if (base::is_control_character(letter)) {
      result += "\\x";
      result += kHexDigits[code >> 4];
      result += kHexDigits[code & 15];
    } else {
      result += letter;  // UTF-8 is not escaped
    }
  }
  return result + '"';
}

/// Returns a name as written after % or @: bare if it is a single word of the lexer, else quoted.
std::string name_text(std::string_view name) {
  bool bare = !name.empty();
  for (const char letter : name) bare = bare && is_word_letter(letter);
  return bare ? std::string(name) : quoted(name);
}

template <typename T, typename Text>
std::string joined(const std::vector<T>& values, Text text) {
  std::string result;
  for (const T& value : values) {
    if (!result.empty()) result += ',';
    result += text(value);
  }
  return result;
}

std::string quant_text(const Quant& quant) {
  const auto whole = [](int32_t value) { return std::to_string(value); };
  if (quant.axis == -1 && quant.scale.size() == 1 && quant.zero_point.size() == 1) {
    return fmt::format("quant({}, {})", double_text(quant.scale[0]), quant.zero_point[0]);
  }
  return fmt::format("quant(axis={}, [{}], [{}])", quant.axis, joined(quant.scale, double_text),
                     joined(quant.zero_point, whole));
}

std::string full_type_text(const Type& type) {
  std::string result = type_text(type.dtype, type.shape);
  if (!type.dim_order.empty()) {
    result += fmt::format(" order({})", fmt::join(type.dim_order, ","));
  }
  if (type.quant) result += ' ' + quant_text(*type.quant);
  return result;
}

std::string hex(const std::vector<std::byte>& bytes) {
  std::string result = "0x";
  result.reserve(2 + 2 * bytes.size());
  for (const std::byte byte : bytes) {
    result += kHexDigits[std::to_integer<unsigned>(byte) >> 4];
    result += kHexDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return result;
}

std::string attr_text(const AttrValue& value) {
  if (const auto* whole = std::get_if<int64_t>(&value)) return std::to_string(*whole);
  if (const auto* number = std::get_if<double>(&value)) return double_text(*number);
  return list_text(std::get<std::vector<int64_t>>(value));
}

std::string source_text(const Source& source) {
  std::string result;
  if (!source.file.empty() || source.line != 0 || !source.text.empty()) {
    result += " at " + quoted(source.file);
    if (source.line != 0) result += fmt::format(":{}", source.line);
    if (!source.text.empty()) result += ' ' + quoted(source.text);
  }
  if (!source.module.empty()) result += " in " + quoted(source.module);
  if (!source.target.empty()) result += " of " + quoted(source.target);
  if (!source.node.empty()) result += " as " + quoted(source.node);
  return result;
}

std::string op_text(const Graph& graph, const Op& op) {
  const Value& result = graph.value(op.output);
  const auto operand = [&](ValueId id) {
    return id == kNoValue ? std::string("_") : '%' + name_text(graph.value(id).name);
  };
  std::string operands;
  for (const ValueId id : op.inputs) {
    if (!operands.empty()) operands += ", ";
    operands += operand(id);
  }
  std::string attrs;
  for (const auto& [id, value] : op.attrs.entries()) {
    attrs += fmt::format("{}{}={}", attrs.empty() ? " {" : ", ", attr_name(id), attr_text(value));
  }
  if (!attrs.empty()) attrs += '}';
  return fmt::format("  %{}: {} = {}({}){}{}\n", name_text(result.name),
                     full_type_text(result.type), op_name(op.kind), operands, attrs,
                     source_text(op.source));
}

}  // namespace

std::string double_text(double value) {
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  assert(end.ec == std::errc());
  return {buffer.data(), end.ptr};
}

std::string print(const Graph& graph) {
  std::string result = fmt::format("graph @{} {{\n", name_text(graph.name));
  for (const ValueId id : graph.inputs()) {
    const Value& value = graph.value(id);
    result += fmt::format("  input %{}: {}\n", name_text(value.name), full_type_text(value.type));
  }
  for (const State& state : graph.states()) {
    const Value& value = graph.value(state.value);
    result += fmt::format("  state %{}: {} = {}\n", name_text(value.name),
                          full_type_text(value.type), hex(state.initial->bytes));
  }
  for (size_t i = 0; i < graph.value_count(); ++i) {
    const Value& value = graph.value(static_cast<ValueId>(i));
    if (value.constant == nullptr) continue;
    result += fmt::format("  const %{}: {} = {}\n", name_text(value.name),
                          full_type_text(value.type), hex(value.constant->bytes));
  }
  for (const Op& op : graph.ops()) result += op_text(graph, op);
  for (const ValueId id : graph.outputs()) {
    result += fmt::format("  output %{}\n", name_text(graph.value(id).name));
  }
  for (const State& state : graph.states()) {
    result += fmt::format("  update %{} = %{}\n", name_text(graph.value(state.value).name),
                          name_text(graph.value(state.next).name));
  }
  return result + "}\n";
}

}  // namespace thimble::ir
