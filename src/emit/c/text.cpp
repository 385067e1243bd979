// SPDX-License-Identifier: Apache-2.0
#include "emit/c/text.h"

#include <bit>
#include <cassert>
#include <cctype>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace thimble::emit::c {

std::string identifier(std::string_view name) {
  std::string text;
  for (const char letter : name) {
    const bool fits = std::isalnum(static_cast<unsigned char>(letter)) != 0;
    if (fits) {
      text += letter;
    } else if (!text.empty() && text.back() != '_') {
      text += '_';
    }
  }
  while (!text.empty() && text.back() == '_') text.pop_back();
  // The names of the runtime's headers and functions begin with "thimble".
  const bool letter_first = !text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) != 0;
  const bool begins_well = letter_first && !text.starts_with("thimble");
  return begins_well ? text : "model" + (text.empty() ? text : "_" + text);
}

std::string upper(std::string_view name) {
  std::string text(name);
  for (char& letter : text) {
    letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  }
  return text;
}

std::string printable(std::string_view text) {
  std::string kept;
  for (const char letter : text) {
    const bool plain = letter >= ' ' && letter <= '~' && letter != '"' && letter != '\\' &&
                       letter != '*' && letter != '?';
    kept += plain ? letter : '_';
  }
  return kept;
}

size_t word_count(size_t bytes) {
  return (bytes + 3) / 4;
}

std::string words(ByteView bytes, std::string_view indent) {
  constexpr size_t kPerLine = 7;
  std::string text;
  text.reserve(bytes.size() * 3 + 64);
  for (size_t word = 0; word < word_count(bytes.size()); ++word) {
    uint32_t value = 0;
    for (size_t i = 0; i < 4 && 4 * word + i < bytes.size(); ++i) {
      value |= std::to_integer<uint32_t>(bytes[4 * word + i]) << (8 * i);
    }
    text += word % kPerLine == 0 ? indent : " ";
    fmt::format_to(std::back_inserter(text), "0x{:08X}u,", value);
    if (word % kPerLine == kPerLine - 1) text += '\n';
  }
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

std::string list(std::span<const int32_t> items) {
  return fmt::format("{}", fmt::join(items, ", "));
}

std::string int64_literal(int64_t value) {
  if (value == INT64_MIN) return "(-INT64_C(9223372036854775807) - 1)";
  return value < 0 ? fmt::format("-INT64_C({})", -value) : fmt::format("INT64_C({})", value);
}

std::string double_member(double value) {
  if (std::isfinite(value)) return fmt::format(".number = {:a}", value);
  return ".integer = " + int64_literal(std::bit_cast<int64_t>(value));
}

std::string float_literal(double value) {
  assert(std::isfinite(value));
  std::string text = fmt::format("{:.9g}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + "f";
}

}  // namespace thimble::emit::c
