// SPDX-License-Identifier: Apache-2.0
#include "formats/pte/text_words.h"

#include <bit>
#include <cmath>

#include <fmt/format.h>

namespace thimble::formats::pte {

std::string escape(std::string_view text) {
  std::string out;
  for (char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (code >= 0x20 && code < 0x7f) {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", code);
    }
  }
  return out;
}

std::string quote(std::string_view text) {
  return '"' + escape(text) + '"';
}

std::string hex(ByteView bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(2 * bytes.size());
  for (std::byte byte : bytes) {
    const auto code = std::to_integer<unsigned>(byte);
    out += kDigits[code >> 4];
    out += kDigits[code & 15];
  }
  return out;
}

std::string number(double value) {
  if (!std::isfinite(value)) return fmt::format("bits:{:016x}", std::bit_cast<uint64_t>(value));
  return fmt::format("{}", value);
}

std::string type_word(ScalarType type) {
  const std::string_view known = name(type);
  return known.empty() ? fmt::format("type:{}", static_cast<int>(type)) : std::string(known);
}

}  // namespace thimble::formats::pte
