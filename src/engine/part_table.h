// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads the tables of a part's file, and merges two files.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/toml_value.h"

namespace thimble::engine {

/// Returns the number that the value is; empty if it is none.
[[nodiscard]] std::optional<double> number_of(const TomlValue& value);

/// Returns `base` with the entries of `own` merged into it; entries of `own` take precedence.
/// Tables are merged key by key, the lists [[engine]] and [[memory]] by name.
[[nodiscard]] Result<TomlValue> merged(const TomlValue& base, const TomlValue& own);

/// Reads one table. An entry that was never looked up is an error.
class Reader {
 public:
  /// `what` is the table's name in messages: "engine", or empty for the file's top level.
  Reader(const TomlValue& table, std::string what);

  /// Returns null if the table has no such entry.
  const TomlValue* find(const char* key);
  /// Returns an empty string if the table has no such entry.
  Result<std::string> text(const char* key);
  Result<std::optional<std::string>> word(const char* key, const std::vector<std::string>& known);
  Result<std::optional<bool>> boolean(const char* key);
  /// Returns a non-negative integer; `what` names the counted unit in messages.
  Result<std::optional<int64_t>> count(const char* key, std::string_view what);
  /// Returns a size: an integer, or a text with a suffix such as "512K" or "1M".
  Result<std::optional<int64_t>> size(const char* key);
  /// Returns a number from 0 to `most`; `what` names the unit in messages.
  Result<std::optional<double>> number(const char* key, std::string_view what, double most);
  /// Returns a number greater than 0; `what` names the unit in messages.
  Result<std::optional<double>> positive_number(const char* key, std::string_view what);
  Result<std::optional<std::vector<std::string>>> strings(const char* key);
  /// Returns the table written as [key]; null if it does not exist.
  Result<const TomlValue*> table(const char* key);
  /// Returns the list of tables written as [[key]].
  Result<std::vector<TomlValue>> tables(const char* key);
  /// Returns an error if the table has an entry that was never looked up.
  [[nodiscard]] Status done() const;

 private:
  [[nodiscard]] Error wrong(const TomlValue& entry, const char* key,
                            std::string_view expected) const;
  const TomlValue& table_;
  std::string what_;  // "engine: "
  std::vector<std::string> looked_up_;
};

}  // namespace thimble::engine
