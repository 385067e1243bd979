// SPDX-License-Identifier: Apache-2.0
#pragma once
// A TOML file as a tree of values with source lines. Only toml_value.cpp includes the TOML library.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace thimble::engine {

/// A value of a TOML file. Dates and times, which no part's file contains, are std::monostate.
struct TomlValue {
  using List = std::vector<TomlValue>;
  using Table = std::map<std::string, TomlValue>;

  std::variant<std::monostate, bool, int64_t, double, std::string, List, Table> value;
  std::string location;  // "board.toml:12"

  /// Returns null if the value has another type.
  template <typename T>
  [[nodiscard]] const T* as() const {
    return std::get_if<T>(&value);
  }
  template <typename T>
  [[nodiscard]] T* as() {
    return std::get_if<T>(&value);
  }
  /// Returns the entry `key`; null if the value is no table or has no such entry.
  [[nodiscard]] const TomlValue* find(const std::string& key) const;
};

/// Parses TOML text; messages refer to it as `where`. The result is a table.
[[nodiscard]] Result<TomlValue> parse_toml(std::string_view text, std::string_view where);

}  // namespace thimble::engine
