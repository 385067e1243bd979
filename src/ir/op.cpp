#include "ir/op.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <map>

namespace thimble::ir {
namespace {

struct Row {
  std::string_view name, operands, attributes;
};
constexpr Row kRows[] = {
#define THIMBLE_OP(name, category, operands, attributes) {#name, operands, attributes},
#include "ir/ops.def"
#undef THIMBLE_OP
};
static_assert(std::size(kRows) == static_cast<size_t>(OpKind::kCount));

struct AttrRow {
  std::string_view id, name;
  AttrInfo::Kind kind;
};
constexpr AttrRow kAttrRows[] = {
#define THIMBLE_ATTR(id, name, type) {#id, name, AttrInfo::Kind::k##type},
#include "ir/attributes.def"
#undef THIMBLE_ATTR
};
static_assert(std::size(kAttrRows) == static_cast<size_t>(AttrId::kCount));

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> result;
  while (!text.empty()) {
    const size_t length = std::min(text.find(' '), text.size());
    if (length > 0) result.push_back(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return result;
}

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
    for (const Row& row : kRows) {
      OpInfo info;
      info.name = row.name;
      for (const auto word : words(row.operands)) info.operands.push_back(parse_operand(word));
      for (const auto word : words(row.attributes)) info.attrs.push_back(parse_attr(word));
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
  return kRows[static_cast<size_t>(kind)].name;
}

std::optional<OpKind> op_from_name(std::string_view name) {
  static const std::map<std::string_view, OpKind> kinds = [] {
    std::map<std::string_view, OpKind> result;
    for (size_t i = 0; i < std::size(kRows); ++i) {
      result.emplace(kRows[i].name, static_cast<OpKind>(i));
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
