// SPDX-License-Identifier: Apache-2.0
#pragma once
// Templates that parse strings, lists and maps.

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/control_characters.h"
#include "formats/pt2/json.h"
#include "formats/pt2/program.h"

namespace thimble::formats::pt2 {

/// `parse` is a function `Result<T>(const json::Value&)`. The list is allocated once, unless its
/// elements are larger than their text. This prevents that a text "{},{},{},..." reserves a graph
/// node for every three characters.
template <auto parse>
auto parse_list(const json::Value& value)
    -> Result<std::vector<std::decay_t<decltype(*parse(value))>>> {
  using T = std::decay_t<decltype(*parse(value))>;
  THIMBLE_TRY(const json::Value::Elements elements, value.elements());
  std::vector<T> list;
  list.reserve(std::min(elements.size(), 3 * elements.tape_bytes() / sizeof(T)));
  for (const json::Value& element : elements) {
    THIMBLE_TRY(auto parsed, parse(element));
    list.push_back(std::move(parsed));
  }
  return list;
}

/// Returns a name, which has no control characters.
inline Result<std::string> parse_name(const json::Value& value) {
  THIMBLE_TRY(const std::string_view text, value.as_string());
  if (base::has_control_character(text)) {
    return value.error("expected a name, found a control character in it");
  }
  return std::string(text);
}

inline Result<std::string> name_at(const json::Value& object, std::string_view key) {
  THIMBLE_TRY(const json::Value value, object.at(key));
  return parse_name(value);
}

/// `parse` is as in parse_list(). A name that occurs twice is an error.
template <auto parse>
auto map_at(const json::Value& object, std::string_view key)
    -> Result<NameMap<std::decay_t<decltype(*parse(object))>>> {
  NameMap<std::decay_t<decltype(*parse(object))>> map;
  THIMBLE_TRY(const json::Value value, object.at(key));
  THIMBLE_TRY(const json::Value::Members members, value.members());
  for (const json::Value::Member& member : members) {
    THIMBLE_TRY(auto parsed, parse(member.value));
    if (!map.emplace(std::string(member.key), std::move(parsed)).second) {
      return member.value.error("the name occurs twice");
    }
  }
  return map;
}

}  // namespace thimble::formats::pt2
