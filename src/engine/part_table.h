#pragma once
// A part's file as a tree of TOML values with source lines, and the merge of two such trees.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <toml.hpp>
#include <vector>

#include "base/result.h"

namespace thimble::engine {

using Table = toml::basic_value<toml::discard_comments>;

/// Parses TOML text; messages refer to it as `where`.
[[nodiscard]] Result<Table> parse_toml(std::string_view text, std::string_view where);

/// Returns the source location of a value: "board.toml:12".
[[nodiscard]] std::string location_of(const Table& value);

/// Returns `base` with the entries of `own` merged into it; entries of `own` take precedence.
/// Tables are merged key by key, the lists [[engine]] and [[memory]] by name.
[[nodiscard]] Result<Table> merged(const Table& base, const Table& own);

/// Reads one table. An entry that was never looked up is an error.
class Reader {
 public:
  /// `what` is the table's name in messages: "engine", or empty for the file's top level.
  Reader(const Table& table, std::string what);

  /// Returns null if the table has no such entry.
  const Table* find(const char* key);
  /// Returns an empty string if the table has no such entry.
  Result<std::string> text(const char* key);
  Result<std::optional<std::string>> word(const char* key, const std::vector<std::string>& known);
  Result<std::optional<bool>> boolean(const char* key);
  /// Returns a non-negative integer; `what` names the counted unit in messages.
  Result<std::optional<int64_t>> count(const char* key, std::string_view what);
  /// Returns a number greater than 0; `what` names the unit in messages.
  Result<std::optional<double>> positive_number(const char* key, std::string_view what);
  Result<std::optional<std::vector<std::string>>> strings(const char* key);
  /// Returns the table written as [key]; null if it does not exist.
  Result<const Table*> table(const char* key);
  /// Returns the list of tables written as [[key]].
  Result<std::vector<Table>> tables(const char* key);
  /// Returns an error if the table has an entry that was never looked up.
  [[nodiscard]] Status done() const;

 private:
  [[nodiscard]] Error wrong(const Table& entry, const char* key, std::string_view expected) const;
  const Table& table_;
  std::string what_;  // "engine: "
  std::vector<std::string> looked_up_;
};

}  // namespace thimble::engine
