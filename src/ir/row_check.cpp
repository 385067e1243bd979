// SPDX-License-Identifier: Apache-2.0
#include "ir/row_check.h"

#include <cmath>

namespace thimble::ir {
namespace {

std::string_view kind_text(AttrInfo::Kind kind) {
  switch (kind) {
    case AttrInfo::Kind::kInt:
      return "an integer";
    case AttrInfo::Kind::kDouble:
      return "a number";
    case AttrInfo::Kind::kInts:
      return "a list of integers";
    case AttrInfo::Kind::kBool:
      return "0 or 1";
  }
  return "";
}

std::string_view found_text(const AttrValue& value) {
  if (std::holds_alternative<int64_t>(value)) return "an integer";
  return std::holds_alternative<double>(value) ? "a number" : "a list of integers";
}

Result<AttrValue> converted(const AttrInfo& info, const AttrValue& value) {
  if (const auto* number = std::get_if<double>(&value); number && std::isnan(*number)) {
    return bad_input("attribute {} is nan", info.name);
  }
  const int64_t* whole = std::get_if<int64_t>(&value);
  const bool fits =
      info.kind == AttrInfo::Kind::kInts     ? std::holds_alternative<std::vector<int64_t>>(value)
      : info.kind == AttrInfo::Kind::kDouble ? !std::holds_alternative<std::vector<int64_t>>(value)
                                             : whole != nullptr;
  if (!fits) {
    return bad_input("attribute {} is {}, expected {}", info.name, found_text(value),
                     kind_text(info.kind));
  }
  if (info.kind == AttrInfo::Kind::kBool && *whole != 0 && *whole != 1) {
    return bad_input("attribute {} is {}, expected 0 or 1", info.name, *whole);
  }
  if (info.kind == AttrInfo::Kind::kDouble && whole != nullptr)
    return AttrValue(static_cast<double>(*whole));
  return value;
}

}  // namespace

Status check_operands(OpKind kind, std::span<const ValueId> inputs) {
  const auto& operands = op_info(kind).operands;
  const bool variadic = !operands.empty() && operands.back().variadic;
  if (variadic ? inputs.size() < operands.size() : inputs.size() != operands.size()) {
    return bad_input("operands: {} given, expected {}{}", inputs.size(), operands.size(),
                     variadic ? " or more" : "");
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const OperandInfo& info = operands[std::min(i, operands.size() - 1)];
    if (inputs[i] == kNoValue && !info.optional)
      return bad_input("operand {} is absent", info.name);
  }
  return ok();
}

Result<Attrs> normalized(OpKind kind, const Attrs& attrs) {
  const OpInfo& op = op_info(kind);
  for (const auto& [id, value] : attrs.entries()) {
    if (op.find(id) == nullptr) return bad_input("unknown attribute {}", attr_name(id));
  }
  Attrs result;
  for (const AttrInfo& info : op.attrs) {
    const AttrValue* given = attrs.find_value(info.id);
    if (given == nullptr) {
      if (!info.default_value) return bad_input("attribute {} is missing", info.name);
      continue;
    }
    THIMBLE_TRY(AttrValue value, converted(info, *given));
    if (value != info.default_value) result.set_value(info.id, std::move(value));
  }
  return result;
}

}  // namespace thimble::ir
