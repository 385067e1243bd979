#pragma once
// A part's file as a tree of TOML values, each with the line that it came from; and one file on top
// of another.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <toml.hpp>
#include <vector>

#include "base/result.h"

namespace thimble::engine {

using Table = toml::basic_value<toml::discard_comments>;

/// `where` is what messages call the file.
[[nodiscard]] Result<Table> parse_toml(std::string_view text, std::string_view where);

/// "board.toml:12"
[[nodiscard]] std::string place_of(const Table& value);

/// `own` on top of `base`: its entries win; tables key by key; [[engine]] and [[memory]] by name.
[[nodiscard]] Result<Table> merged(const Table& base, const Table& own);

/// One table: every entry is looked up once, and what nobody looked up is an error.
class Reader {
 public:
  /// `what` names the table: "engine", or nothing for the file itself.
  Reader(const Table& table, std::string what);

  /// Null if there is none.
  const Table* find(const char* key);
  /// Empty if there is none.
  Result<std::string> text(const char* key);
  Result<std::optional<std::string>> word(const char* key, const std::vector<std::string>& known);
  Result<std::optional<bool>> truth(const char* key);
  /// Not negative; `what` is it a number of.
  Result<std::optional<int64_t>> count(const char* key, std::string_view what);
  /// More than 0; `what` is it a number of.
  Result<std::optional<double>> amount(const char* key, std::string_view what);
  Result<std::optional<std::vector<std::string>>> words(const char* key);
  /// As [key] writes it.
  Result<const Table*> table(const char* key);
  /// As [[key]] writes them.
  Result<std::vector<Table>> tables(const char* key);
  /// Nothing is left that nobody looked up.
  [[nodiscard]] Status done() const;

 private:
  [[nodiscard]] Error wrong(const Table& entry, const char* key, std::string_view expected) const;
  const Table& table_;
  std::string what_;  // "engine: "
  std::vector<std::string> asked_;
};

}  // namespace thimble::engine
