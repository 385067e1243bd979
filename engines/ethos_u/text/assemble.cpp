// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include "base/lines.h"
#include "engines/ethos_u/text/layout.h"
#include "engines/ethos_u/text/names.h"
#include "engines/ethos_u/text/text.h"

namespace thimble::ethos_u::text {
namespace {

/// Reads a decimal or 0x number into sign and magnitude; returns false if the token is not a
/// number.
bool read_number(std::string_view token, bool* negative, uint64_t* magnitude) {
  *negative = token.starts_with('-');
  if (*negative) token.remove_prefix(1);
  const bool hexadecimal = token.starts_with("0x");
  if (hexadecimal) token.remove_prefix(2);
  const auto [end, error] =
      std::from_chars(token.data(), token.data() + token.size(), *magnitude, hexadecimal ? 16 : 10);
  return error == std::errc() && end == token.data() + token.size();
}

class Line {
 public:
  Line(std::string_view label, size_t number, Generation generation)
      : label_(label), number_(number), generation_(generation) {}

  Status assemble(const std::vector<std::string_view>& tokens, std::vector<uint32_t>& words) const {
    if (tokens[0] == ".word") return raw(tokens, words);
    const std::optional<Layout> layout = layout_of_name(tokens[0], generation_);
    if (!layout) return error("no command {} on this generation", tokens[0]);
    uint64_t bits = 0;
    size_t at = 1;
    for (const Part& part : layout->parts) {
      if (at == tokens.size() && part.silent_zero) continue;
      if (at == tokens.size()) {
        return error("{} ends before {}", tokens[0],
                     part.name == "_" ? std::string_view("its number") : part.name);
      }
      THIMBLE_TRY(const uint64_t value, read(*layout, part, tokens[at]));
      bits |= value << part.lsb;
      ++at;
    }
    if (at < tokens.size()) return error("unexpected '{}' after {}", tokens[at], tokens[0]);
    const CommandRow& row = *layout->row;
    const auto parameter = static_cast<uint32_t>(bits >> kParameterAt);
    words.push_back(row.payload ? word1(row.code, parameter) : word0(row.code, parameter));
    if (row.payload) words.push_back(static_cast<uint32_t>(bits));
    return ok();
  }

 private:
  template <typename... Args>
  [[nodiscard]] Error error(fmt::format_string<Args...> format, Args&&... args) const {
    return bad_input("{}:{}: {}", label_, number_,
                     fmt::format(format, std::forward<Args>(args)...));
  }

  Status raw(const std::vector<std::string_view>& tokens, std::vector<uint32_t>& words) const {
    if (tokens.size() == 1) return error(".word without a number");
    for (size_t i = 1; i < tokens.size(); ++i) {
      bool negative = false;
      uint64_t value = 0;
      if (!read_number(tokens[i], &negative, &value) || negative || value > UINT32_MAX) {
        return error("'{}' is not a 32-bit word", tokens[i]);
      }
      words.push_back(static_cast<uint32_t>(value));
    }
    return ok();
  }

  Result<uint64_t> read(const Layout& layout, const Part& part, std::string_view token) const {
    const std::string_view command = layout.row->name;
    if (part.name != "_") {
      const size_t equals = token.find('=');
      if (equals == std::string_view::npos || token.substr(0, equals) != part.name) {
        return error("{}= expected, '{}' found", part.name, token);
      }
      token.remove_prefix(equals + 1);
    }
    if (part.lsb >= kParameterAt) {
      const std::optional<uint32_t> named = named_value(command, part.name, token, generation_);
      if (named) return uint64_t{*named};
    }
    bool negative = false;
    uint64_t value = 0;
    if (!read_number(token, &negative, &value)) {
      return error("'{}' is not a value of {}", token, part.name == "_" ? command : part.name);
    }
    const uint64_t end = uint64_t{1} << part.width;
    if (negative ? !part.is_signed || value > end / 2 : value >= end) {
      return error("{} does not fit into {} bits", token, part.width);
    }
    return negative && value != 0 ? end - value : value;
  }

  std::string_view label_;
  size_t number_;
  Generation generation_;
};

}  // namespace

Result<std::vector<uint32_t>> assemble(std::string_view text, Generation generation,
                                       std::string_view label) {
  std::vector<uint32_t> words;
  size_t number = 0;
  for (const std::string_view line : base::lines_of(text)) {
    ++number;
    const auto tokens = base::words_of(line.substr(0, line.find('#')));
    if (!tokens.empty()) THIMBLE_CHECK(Line(label, number, generation).assemble(tokens, words));
  }
  return words;
}

}  // namespace thimble::ethos_u::text
