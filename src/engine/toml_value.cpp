// SPDX-License-Identifier: Apache-2.0
#include "engine/toml_value.h"

#include <algorithm>
#include <new>
#include <nlohmann/json.hpp>
#include <sstream>
#include <toml.hpp>

namespace thimble::engine {
namespace {

using Parsed = toml::basic_value<toml::discard_comments>;

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

bool is_utf8(std::string_view text) {
  try {
    (void)nlohmann::json(text).dump();
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
  return true;
}

/// Returns the first line that is not UTF-8, or 0. This check must run before the parser: toml11
/// 3.7.1 reads outside of its memory where the text between apostrophes is not UTF-8.
size_t not_utf8_line(std::string_view text) {
  for (size_t line = 1, begin = 0; begin < text.size(); ++line) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    if (!is_utf8(text.substr(begin, end - begin))) return line;
    begin = end + 1;
  }
  return 0;
}

/// The depth of the recursion is limited by too_deep_line().
TomlValue converted(const Parsed& parsed) {
  const toml::source_location place = parsed.location();
  TomlValue result{{}, fmt::format("{}:{}", place.file_name(), place.line())};
  if (parsed.is_boolean()) result.value = parsed.as_boolean();
  if (parsed.is_integer()) result.value = static_cast<int64_t>(parsed.as_integer());
  if (parsed.is_floating()) result.value = parsed.as_floating();
  if (parsed.is_string()) result.value = parsed.as_string().str;
  if (parsed.is_array()) {
    TomlValue::List list;
    for (const Parsed& each : parsed.as_array()) list.push_back(converted(each));
    result.value = std::move(list);
  }
  if (parsed.is_table()) {
    TomlValue::Table table;
    for (const auto& [key, each] : parsed.as_table()) table.emplace(key, converted(each));
    result.value = std::move(table);
  }
  return result;
}

}  // namespace

const TomlValue* TomlValue::find(const std::string& key) const {
  const Table* const table = as<Table>();
  if (table == nullptr) return nullptr;
  const auto found = table->find(key);
  return found == table->end() ? nullptr : &found->second;
}

Result<TomlValue> parse_toml(std::string_view text, std::string_view where) {
  if (const size_t line = too_deep_line(text); line != 0) {
    return bad_input("{}:{}: nested too deeply for a part's file", where, line);
  }
  if (const size_t line = not_utf8_line(text); line != 0) {
    return bad_input("{}:{}: the text is not UTF-8", where, line);
  }
  // The parser, and the line of each value, take a time that is quadratic in the number of values.
  constexpr size_t kBytesMax = 32 << 10;
  if (text.size() > kBytesMax) {
    return bad_input("{}: {} bytes, expected a part's file of at most {}", where, text.size(),
                     kBytesMax);
  }
  std::istringstream stream{std::string(text)};
  try {
    return converted(toml::parse(stream, std::string(where)));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    std::string message = error.what();
    std::ranges::replace(message, '\n', ' ');
    return bad_input("{}: {}", where, message);
  }
}

}  // namespace thimble::engine
