// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/limits.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string_view>

#include "tests/fuzz/mutate.h"

namespace thimble::fuzz {
namespace {

using Use = std::function<void(const Bytes& changed, size_t at, const std::string& value)>;

constexpr std::string_view kTextLimits[] = {"0",
                                            "-1",
                                            "100000",
                                            "2147483647",
                                            "2147483648",
                                            "-2147483648",
                                            "4294967296",
                                            "9223372036854775807",
                                            "-9223372036854775808",
                                            "18446744073709551615",
                                            "1e308"};

bool is_text(std::string_view bytes) {
  return std::ranges::all_of(bytes, [](char c) {
    return std::isprint(static_cast<unsigned char>(c)) != 0 || c == '\n' || c == '\t' || c == '\r';
  });
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_word_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

/// A number begins with a digit, or with a minus sign that a digit follows. Digits after a letter
/// are part of a name. A number includes its fraction and its exponent.
void change_text(std::string_view text, const Use& use) {
  for (size_t at = 0; at < text.size(); ++at) {
    const bool sign = text[at] == '-' && at + 1 < text.size() && is_digit(text[at + 1]);
    if ((!sign && !is_digit(text[at])) || (at > 0 && is_word_letter(text[at - 1]))) continue;
    size_t end = at + 1;
    while (end < text.size() &&
           (is_word_letter(text[end]) || (text[end] == '-' && text[end - 1] == 'e'))) {
      ++end;
    }
    for (const std::string_view limit : kTextLimits) {
      std::string changed(text.substr(0, at));
      changed += limit;
      changed += text.substr(end);
      use(copy_of(as_byte_view(changed)), at, std::string(limit));
    }
    at = end;
  }
}

}  // namespace

void for_each_limit(const Bytes& input, const Use& use) {
  if (is_text(as_text(input))) return change_text(as_text(input), use);
  Bytes changed = input;
  for (size_t at = 0; at + sizeof(uint32_t) <= input.size(); at += sizeof(uint32_t)) {
    for (const uint32_t limit : kWordLimits) {
      std::memcpy(changed.data() + at, &limit, sizeof limit);
      use(changed, at, std::to_string(limit));
    }
    std::copy_n(input.begin() + static_cast<std::ptrdiff_t>(at), sizeof(uint32_t),
                changed.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

}  // namespace thimble::fuzz
