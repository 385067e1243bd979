// SPDX-License-Identifier: Apache-2.0
#include "ir/op.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <map>

#include "ir/op_rows.h"

namespace thimble::ir {
namespace {

static_assert(std::size(kOpRows) == static_cast<size_t>(OpKind::kCount));
static_assert(std::size(kAttrRows) == static_cast<size_t>(AttrId::kCount));

OperandInfo parse_operand(std::string_view word) {
  OperandInfo info;
  info.name = word;
  info.optional = word.back() == '?';
  info.variadic = word.back() == '*';
  if (info.optional || info.variadic) info.name.remove_suffix(1);
  return info;
}

// Defaults in the table are limited to integers and, for doubles, "inf" with an optional sign.
AttrValue parse_default(std::string_view text, AttrInfo::Kind kind) {
  assert(kind != AttrInfo::Kind::kInts);
  const bool negative = text.front() == '-';
  if (negative) text.remove_prefix(1);
  const bool infinite = text == "inf";
  int64_t whole = 0;
  for (const char digit : infinite ? "" : text) {
    assert(digit >= '0' && digit <= '9');
    whole = whole * 10 + (digit - '0');
  }
  if (negative) whole = -whole;
  if (kind != AttrInfo::Kind::kDouble) return whole;
  if (!infinite) return static_cast<double>(whole);
  const double infinity = std::numeric_limits<double>::infinity();
  return negative ? -infinity : infinity;
}

AttrInfo parse_attr(std::string_view word) {
  const size_t equals = std::min(word.find('='), word.size());
  const AttrRow* row = std::ranges::find(kAttrRows, word.substr(0, equals), &AttrRow::id);
  assert(row != std::end(kAttrRows));
  AttrInfo info = {static_cast<AttrId>(row - kAttrRows), row->name, row->kind, {}};
  if (equals < word.size()) info.default_value = parse_default(word.substr(equals + 1), info.kind);
  return info;
}

const std::vector<OpInfo>& table() {
  static const std::vector<OpInfo> infos = [] {
    std::vector<OpInfo> result;
    for (const OpRow& row : kOpRows) {
      OpInfo info;
      info.name = row.name;
      for_each_word(row.operands,
                    [&](std::string_view word) { info.operands.push_back(parse_operand(word)); });
      for_each_word(row.attributes,
                    [&](std::string_view word) { info.attrs.push_back(parse_attr(word)); });
      result.push_back(std::move(info));
    }
    return result;
  }();
  return infos;
}

}  // namespace

const AttrInfo* OpInfo::attr(std::string_view attr_name) const {
  for (const AttrInfo& info : attrs) {
    if (info.name == attr_name) return &info;
  }
  return nullptr;
}

const AttrInfo* OpInfo::find(AttrId id) const {
  const auto found = std::ranges::find(attrs, id, &AttrInfo::id);
  return found == attrs.end() ? nullptr : &*found;
}

std::string_view attr_name(AttrId id) {
  return kAttrRows[static_cast<size_t>(id)].name;
}

bool has_attr(OpKind kind, AttrId id) {
  return op_info(kind).find(id) != nullptr;
}

const OpInfo& op_info(OpKind kind) {
  return table()[static_cast<size_t>(kind)];
}

std::string_view op_name(OpKind kind) {
  return kOpRows[static_cast<size_t>(kind)].name;
}

std::optional<OpKind> op_from_name(std::string_view name) {
  static const std::map<std::string_view, OpKind> kinds = [] {
    std::map<std::string_view, OpKind> result;
    for (size_t i = 0; i < std::size(kOpRows); ++i) {
      result.emplace(kOpRows[i].name, static_cast<OpKind>(i));
    }
    return result;
  }();
  const auto found = kinds.find(name);
  if (found == kinds.end()) return std::nullopt;
  return found->second;
}

Attrs::Attrs(std::initializer_list<Entry> entries) {
  entries_.reserve(entries.size());
  for (const auto& [id, value] : entries) set_value(id, value);
}

void Attrs::set_value(AttrId id, AttrValue value) {
  const auto held = std::ranges::find(entries_, id, &Entry::id);
  if (held == entries_.end()) {
    entries_.emplace_back(id, std::move(value));
  } else {
    held->value = std::move(value);
  }
}

const AttrValue* Attrs::find_value(AttrId id) const {
  const auto held = std::ranges::find(entries_, id, &Entry::id);
  return held == entries_.end() ? nullptr : &held->value;
}

const AttrValue& attr_value(OpKind kind, const Attrs& attrs, AttrId id) {
  if (const AttrValue* held = attrs.find_value(id)) return *held;
  const AttrInfo* info = op_info(kind).find(id);
  assert(info != nullptr && info->default_value.has_value());
  return *info->default_value;
}

}  // namespace thimble::ir
