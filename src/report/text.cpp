// SPDX-License-Identifier: Apache-2.0
#include "report/text.h"

#include <cmath>
#include <vector>

#include <fmt/format.h>

namespace thimble::report {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view kEllipsis = "\xE2\x80\xA6";     // U+2026
constexpr std::string_view kTimes = "\xC3\x97";            // U+00D7

/// A character of UTF-8 text. A byte that is not UTF-8 is a character of its own.
struct Character {
  std::string_view bytes;
  uint32_t code = 0;
  bool valid = true;
};

std::vector<Character> characters(std::string_view text) {
  std::vector<Character> found;
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    size_t length = 1;
    uint32_t code = first;
    if (first >= 0xC2 && first < 0xE0) {
      length = 2;
      code = first & 0x1FU;
    } else if (first >= 0xE0 && first < 0xF0) {
      length = 3;
      code = first & 0x0FU;
    } else if (first >= 0xF0 && first < 0xF5) {
      length = 4;
      code = first & 0x07U;
    }
    bool valid = (first < 0x80 || length > 1) && i + length <= text.size();
    for (size_t k = 1; valid && k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      valid = (next & 0xC0U) == 0x80U;
      code = (code << 6) | (next & 0x3FU);
    }
    if (!valid) length = 1;
    found.push_back({text.substr(i, length), code, valid});
    i += length;
  }
  return found;
}

/// True for the blocks of East Asian wide characters (Unicode Annex 11) and for emoji.
bool is_wide(uint32_t code) {
  return (code >= 0x1100 && code < 0x1160) || (code >= 0x2E80 && code < 0xA4D0) ||
         (code >= 0xAC00 && code < 0xD7A4) || (code >= 0xF900 && code < 0xFB00) ||
         (code >= 0xFE30 && code < 0xFE70) || (code >= 0xFF00 && code < 0xFF61) ||
         (code >= 0x1F000 && code < 0x20000) || (code >= 0x20000 && code < 0x40000);
}

size_t columns_of(const Character& character) {
  return character.valid && is_wide(character.code) ? 2 : 1;
}

/// Returns the value with three significant digits at most.
std::string three_digits(double value) {
  if (value >= 100) return fmt::format("{:.0f}", value);
  return fmt::format("{:.{}f}", value, value >= 10 ? 1 : 2);
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string result;
  for (const Character& character : characters(text)) {
    const uint32_t code = character.code;
    const bool control = code < 0x20 || (code >= 0x7F && code < 0xA0);
    if (!character.valid || (control && code != '\n' && code != '\t')) {
      result += kReplacement;
    } else if (code == '<') {
      result += "&lt;";
    } else if (code == '>') {
      result += "&gt;";
    } else if (code == '&') {
      result += "&amp;";
    } else if (code == '"') {
      result += "&quot;";
    } else if (code == '\'') {
      result += "&#39;";
    } else {
      result += character.bytes;
    }
  }
  return result;
}

std::string script_json(const Json& json) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string result;
  for (const char c : text) {
    if (c == '<') {
      result += "\\u003c";  // in JSON, `<` occurs in strings only
    } else {
      result += c;
    }
  }
  return result;
}

size_t text_columns(std::string_view text) {
  size_t columns = 0;
  for (const Character& character : characters(text)) columns += columns_of(character);
  return columns;
}

std::string shorten(std::string_view text, size_t columns) {
  if (text_columns(text) <= columns) return std::string(text);
  const std::vector<Character> all = characters(text);
  const size_t head_columns = columns / 2, tail_columns = columns - head_columns - 1;
  std::string head, tail;
  size_t used = 0;
  for (const Character& character : all) {
    used += columns_of(character);
    if (used > head_columns) break;
    head += character.bytes;
  }
  used = 0;
  for (size_t i = all.size(); i-- > 0;) {
    used += columns_of(all[i]);
    if (used > tail_columns) break;
    tail.insert(0, all[i].bytes);
  }
  return head + std::string(kEllipsis) + tail;
}

std::string short_number(double value) {
  constexpr std::string_view kUnits[] = {"", " k", " M", " G", " T"};
  size_t unit = 0;
  while (std::abs(value) >= 1000 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  return (unit == 0 ? fmt::format("{:.0f}", value) : three_digits(value)) +
         std::string(kUnits[unit]);
}

std::string short_bytes(int64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  const double kib = static_cast<double>(bytes) / 1024;
  const bool mebibytes = kib >= 1024;
  const double value = mebibytes ? kib / 1024 : kib;
  const bool whole = value == std::floor(value);
  return (whole ? fmt::format("{:.0f}", value) : three_digits(value)) +
         (mebibytes ? " MiB" : " KiB");
}

std::string shape_text(const ir::Shape& shape) {
  if (shape.empty()) return "scalar";
  std::string text;
  for (const int64_t size : shape) {
    if (!text.empty()) text += kTimes;
    text += fmt::format("{}", size);
  }
  return text;
}

std::string coordinate(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

}  // namespace thimble::report
