// SPDX-License-Identifier: Apache-2.0
#include "engine/part_table.h"

#include <algorithm>
#include <cmath>

#include "base/control_characters.h"
#include "base/nearest.h"
#include "base/size_text.h"

namespace thimble::engine {
namespace {

/// Lists whose tables are matched by their `name` entry.
constexpr std::string_view kNamedLists[] = {"engine", "memory"};

/// Overwrites entries of `base` with those of `own`; nested tables are merged recursively. A merged
/// table has the location of the user's own.
void merge_into(TomlValue::Table* base, const TomlValue::Table& own) {
  for (const auto& [key, value] : own) {
    const auto found = base->find(key);
    auto* const below = found == base->end() ? nullptr : found->second.as<TomlValue::Table>();
    const auto* const above = value.as<TomlValue::Table>();
    if (below != nullptr && above != nullptr) {
      merge_into(below, *above);
      found->second.location = value.location;
    } else {
      (*base)[key] = value;
    }
  }
}

std::string name_of(const TomlValue& table) {
  const TomlValue* const name = table.find("name");
  const auto* const text = name == nullptr ? nullptr : name->as<std::string>();
  return text == nullptr ? "" : *text;
}

/// Merges each table of `own` into the table of `base` that has the same name, or appends it.
Status merge_list_into(TomlValue* base, const TomlValue& own) {
  auto* const list = base->as<TomlValue::List>();
  for (const TomlValue* each : {static_cast<const TomlValue*>(base), &own}) {
    if (each->as<TomlValue::List>() == nullptr) {
      return bad_input("{}: a list of tables expected", each->location);
    }
  }
  for (const TomlValue& table : *own.as<TomlValue::List>()) {
    const std::string name = name_of(table);
    if (name.empty()) return bad_input("{}: has no name", table.location);
    const auto same = std::ranges::find(*list, name, name_of);
    if (same == list->end()) {
      list->push_back(table);
    } else {
      merge_into(same->as<TomlValue::Table>(), *table.as<TomlValue::Table>());
      same->location = table.location;
    }
  }
  return ok();
}

template <typename T>
bool is_list_of(const TomlValue::List* list) {
  return list != nullptr &&
         std::ranges::all_of(*list, [](const TomlValue& each) { return each.as<T>() != nullptr; });
}

}  // namespace

std::optional<double> number_of(const TomlValue& value) {
  if (const auto* const integer = value.as<int64_t>()) return static_cast<double>(*integer);
  if (const auto* const floating = value.as<double>()) return *floating;
  return std::nullopt;
}

Result<TomlValue> merged(const TomlValue& base, const TomlValue& own) {
  TomlValue result = base;
  TomlValue rest = own;
  auto* const entries = rest.as<TomlValue::Table>();
  for (const std::string_view key : kNamedLists) {
    const std::string name(key);
    const TomlValue* const here = own.find(name);
    if (base.find(name) == nullptr || here == nullptr) continue;
    THIMBLE_CHECK(merge_list_into(&result.as<TomlValue::Table>()->at(name), *here));
    entries->erase(name);
  }
  merge_into(result.as<TomlValue::Table>(), *entries);
  return result;
}

Reader::Reader(const TomlValue& table, std::string what)
    : table_(table), what_(what.empty() ? "" : std::move(what) + ": ") {}

const TomlValue* Reader::find(const char* key) {
  looked_up_.emplace_back(key);
  return table_.find(key);
}

Error Reader::wrong(const TomlValue& entry, const char* key, std::string_view expected) const {
  return bad_input("{}: {}{} is not {}", entry.location, what_, key, expected);
}

Result<std::string> Reader::text(const char* key) {
  const TomlValue* entry = find(key);
  if (entry == nullptr) return std::string();
  const auto* const text = entry->as<std::string>();
  if (text == nullptr) return wrong(*entry, key, "a string");
  if (base::has_control_character(*text)) {
    return wrong(*entry, key, "a string without control characters");
  }
  return *text;
}

Result<std::optional<std::string>> Reader::word(const char* key,
                                                const std::vector<std::string>& known) {
  const TomlValue* entry = find(key);
  if (entry == nullptr) return std::optional<std::string>();
  const auto* const text = entry->as<std::string>();
  if (text == nullptr) return wrong(*entry, key, "a string");
  if (std::ranges::find(known, *text) != known.end()) return std::optional(*text);
  return bad_input("{}: {}{} {}: not known{}; one of {} was expected", entry->location, what_, key,
                   *text, suggestions(*text, known), fmt::join(known, ", "));
}

Result<std::optional<bool>> Reader::boolean(const char* key) {
  const TomlValue* entry = find(key);
  if (entry == nullptr) return std::optional<bool>();
  const bool* const value = entry->as<bool>();
  if (value == nullptr) return wrong(*entry, key, "true or false");
  return std::optional(*value);
}

Result<std::optional<int64_t>> Reader::count(const char* key, std::string_view what) {
  const TomlValue* entry = find(key);
  if (entry == nullptr) return std::optional<int64_t>();
  const int64_t* const value = entry->as<int64_t>();
  if (value == nullptr || *value < 0) {
    return wrong(*entry, key, fmt::format("a number of {}", what));
  }
  return std::optional(*value);
}

Result<std::optional<int64_t>> Reader::size(const char* key) {
  const TomlValue* entry = find(key);
  if (entry == nullptr) return std::optional<int64_t>();
  const int64_t* const number = entry->as<int64_t>();
  const auto* const text = entry->as<std::string>();
  std::optional<int64_t> bytes;
  if (number != nullptr && *number >= 0) bytes = *number;
  if (text != nullptr) bytes = parse_size(*text);
  if (!bytes) return wrong(*entry, key, R"(a number of bytes, such as 65536, "64K" or "1M")");
  return bytes;
}

Result<std::optional<double>> Reader::number(const char* key, std::string_view what, double most) {
  const TomlValue* entry = find(key);
  if (entry == nullptr) return std::optional<double>();
  const std::optional<double> value = number_of(*entry);
  if (!value || !(*value >= 0 && *value <= most)) {
    return wrong(*entry, key, fmt::format("a number of {}, at most {:g}", what, most));
  }
  return value;
}

Result<std::optional<double>> Reader::positive_number(const char* key, std::string_view what) {
  const TomlValue* entry = find(key);
  if (entry == nullptr) return std::optional<double>();
  const std::optional<double> value = number_of(*entry);
  if (!value || !(*value > 0) || !std::isfinite(*value)) {
    return wrong(*entry, key, fmt::format("a number of {}, more than 0", what));
  }
  return value;
}

Result<std::optional<std::vector<std::string>>> Reader::strings(const char* key) {
  const TomlValue* entry = find(key);
  if (entry == nullptr) return std::optional<std::vector<std::string>>();
  const auto* const list = entry->as<TomlValue::List>();
  if (!is_list_of<std::string>(list)) return wrong(*entry, key, "a list of strings");
  std::vector<std::string> all;
  for (const TomlValue& each : *list) all.push_back(*each.as<std::string>());
  return std::optional(all);
}

Result<const TomlValue*> Reader::table(const char* key) {
  const TomlValue* entry = find(key);
  if (entry != nullptr && entry->as<TomlValue::Table>() == nullptr) {
    return wrong(*entry, key, fmt::format("a table, [{}]", key));
  }
  return entry;
}

Result<std::vector<TomlValue>> Reader::tables(const char* key) {
  const TomlValue* entry = find(key);
  if (entry == nullptr) return std::vector<TomlValue>();
  const auto* const list = entry->as<TomlValue::List>();
  if (!is_list_of<TomlValue::Table>(list)) {
    return wrong(*entry, key, fmt::format("a list of tables, [[{}]]", key));
  }
  return *list;
}

Status Reader::done() const {
  for (const auto& [key, value] : *table_.as<TomlValue::Table>()) {
    if (std::ranges::find(looked_up_, key) != looked_up_.end()) continue;
    return bad_input("{}: {}{} is not a known key{}; known keys are {}", value.location, what_, key,
                     suggestions(key, looked_up_), fmt::join(looked_up_, ", "));
  }
  return ok();
}

}  // namespace thimble::engine
