#include "engine/part_table.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/nearest.h"

namespace thimble::engine {
namespace {

/// Lists whose tables are matched by their `name` entry.
constexpr std::string_view kNamedLists[] = {"engine", "memory"};

const Table* entry_of(const Table& table, const std::string& key) {
  const auto found = table.as_table().find(key);
  return found == table.as_table().end() ? nullptr : &found->second;
}

/// Overwrites entries of `base` with those of `own`; nested tables are merged recursively.
void merge_into(Table* base, const Table& own) {
  for (const auto& [key, value] : own.as_table()) {
    const auto found = base->as_table().find(key);
    if (found != base->as_table().end() && found->second.is_table() && value.is_table()) {
      merge_into(&found->second, value);
    } else {
      base->as_table()[key] = value;
    }
  }
}

std::string name_of(const Table& table) {
  const Table* const name = table.is_table() ? entry_of(table, "name") : nullptr;
  return name != nullptr && name->is_string() ? std::string(name->as_string().str) : "";
}

/// Merges each table of `own` into the table of `base` that has the same name, or appends it.
Status merge_list_into(Table* base, const Table& own) {
  if (!own.is_array()) return bad_input("{}: a list of tables expected", location_of(own));
  for (const Table& table : own.as_array()) {
    const std::string name = name_of(table);
    if (name.empty()) return bad_input("{}: has no name", location_of(table));
    auto& list = base->as_array();
    const auto same =
        std::ranges::find_if(list, [&](const Table& each) { return name_of(each) == name; });
    if (same == list.end()) {
      list.push_back(table);
    } else {
      merge_into(&*same, table);
    }
  }
  return ok();
}

/// Returns the first line where brackets or dotted keys are nested deeper than the limit, or 0. The
/// TOML library parses nested values recursively, so this check must run first. Characters inside
/// strings are counted too; no string of a part's file contains that many.
size_t too_deep_line(std::string_view text) {
  constexpr int kDeepest = 64;
  size_t line = 1;
  int depth = 0, dots = 0;
  for (const char letter : text) {
    if (letter == '\n') {
      ++line;
      dots = 0;
    }
    if (letter == '[' || letter == '{') ++depth;
    if (letter == ']' || letter == '}') depth = std::max(depth - 1, 0);
    if (letter == '.') ++dots;
    if (depth > kDeepest || dots > kDeepest) return line;
  }
  return 0;
}

}  // namespace

Result<Table> parse_toml(std::string_view text, std::string_view where) {
  if (const size_t line = too_deep_line(text); line != 0) {
    return bad_input("{}:{}: nested deeper than a part's file can be", where, line);
  }
  std::istringstream stream{std::string(text)};
  try {
    return toml::parse(stream, std::string(where));
  } catch (const std::exception& error) {
    std::string message = error.what();
    std::ranges::replace(message, '\n', ' ');
    return bad_input("{}: {}", where, message);
  }
}

std::string location_of(const Table& value) {
  const toml::source_location place = value.location();
  return fmt::format("{}:{}", place.file_name(), place.line());
}

Result<Table> merged(const Table& base, const Table& own) {
  Table result = base;
  Table rest = own;
  for (const std::string_view key : kNamedLists) {
    const std::string name(key);
    const Table* const there = entry_of(base, name);
    const Table* const here = entry_of(own, name);
    if (there == nullptr || here == nullptr) continue;
    THIMBLE_CHECK(merge_list_into(&result.as_table().at(name), *here));
    rest.as_table().erase(name);
  }
  merge_into(&result, rest);
  return result;
}

Reader::Reader(const Table& table, std::string what)
    : table_(table), what_(what.empty() ? "" : std::move(what) + ": ") {}

const Table* Reader::find(const char* key) {
  looked_up_.emplace_back(key);
  return entry_of(table_, key);
}

Error Reader::wrong(const Table& entry, const char* key, std::string_view expected) const {
  return bad_input("{}: {}{} is not {}", location_of(entry), what_, key, expected);
}

Result<std::string> Reader::text(const char* key) {
  const Table* entry = find(key);
  if (entry == nullptr) return std::string();
  if (!entry->is_string()) return wrong(*entry, key, "a string");
  return std::string(entry->as_string().str);
}

Result<std::optional<std::string>> Reader::word(const char* key,
                                                const std::vector<std::string>& known) {
  const Table* entry = find(key);
  if (entry == nullptr) return std::optional<std::string>();
  if (!entry->is_string()) return wrong(*entry, key, "a string");
  const std::string said = entry->as_string().str;
  if (std::ranges::find(known, said) != known.end()) return std::optional(said);
  return bad_input("{}: {}{} {}: not known{}; one of {} was expected", location_of(*entry), what_,
                   key, said, suggestions(said, known), fmt::join(known, ", "));
}

Result<std::optional<bool>> Reader::boolean(const char* key) {
  const Table* entry = find(key);
  if (entry == nullptr) return std::optional<bool>();
  if (!entry->is_boolean()) return wrong(*entry, key, "true or false");
  return std::optional<bool>(entry->as_boolean());
}

Result<std::optional<int64_t>> Reader::count(const char* key, std::string_view what) {
  const Table* entry = find(key);
  if (entry == nullptr) return std::optional<int64_t>();
  if (!entry->is_integer() || entry->as_integer() < 0) {
    return wrong(*entry, key, fmt::format("a number of {}", what));
  }
  return std::optional<int64_t>(entry->as_integer());
}

Result<std::optional<double>> Reader::positive_number(const char* key, std::string_view what) {
  const Table* entry = find(key);
  if (entry == nullptr) return std::optional<double>();
  const double value = entry->is_integer()    ? static_cast<double>(entry->as_integer())
                       : entry->is_floating() ? entry->as_floating()
                                              : 0.0;
  if (!(value > 0) || !std::isfinite(value)) {
    return wrong(*entry, key, fmt::format("a number of {}, more than 0", what));
  }
  return std::optional<double>(value);
}

Result<std::optional<std::vector<std::string>>> Reader::strings(const char* key) {
  const Table* entry = find(key);
  if (entry == nullptr) return std::optional<std::vector<std::string>>();
  const bool good = entry->is_array() &&
                    std::ranges::all_of(entry->as_array(), [](auto& e) { return e.is_string(); });
  if (!good) return wrong(*entry, key, "a list of strings");
  std::vector<std::string> all;
  for (const Table& each : entry->as_array()) all.push_back(each.as_string().str);
  return std::optional(all);
}

Result<const Table*> Reader::table(const char* key) {
  const Table* entry = find(key);
  if (entry != nullptr && !entry->is_table()) {
    return wrong(*entry, key, fmt::format("a table, [{}]", key));
  }
  return entry;
}

Result<std::vector<Table>> Reader::tables(const char* key) {
  const Table* entry = find(key);
  if (entry == nullptr) return std::vector<Table>();
  const bool good = entry->is_array() && std::ranges::all_of(entry->as_array(), [](auto& item) {
                      return item.is_table();
                    });
  if (!good) return wrong(*entry, key, fmt::format("a list of tables, [[{}]]", key));
  return std::vector<Table>(entry->as_array().begin(), entry->as_array().end());
}

Status Reader::done() const {
  for (const auto& [key, value] : table_.as_table()) {
    if (std::ranges::find(looked_up_, key) != looked_up_.end()) continue;
    return bad_input("{}: {}{} means nothing here{}; known are {}", location_of(value), what_, key,
                     suggestions(key, looked_up_), fmt::join(looked_up_, ", "));
  }
  return ok();
}

}  // namespace thimble::engine
