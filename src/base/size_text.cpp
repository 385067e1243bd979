// SPDX-License-Identifier: Apache-2.0
#include "base/size_text.h"

#include <charconv>
#include <system_error>

namespace thimble {

std::optional<int64_t> parse_size(std::string_view text) {
  constexpr int64_t kKiB = 1024;
  int64_t scale = 1;
  if (text.ends_with('K') || text.ends_with('k')) scale = kKiB;
  if (text.ends_with('M') || text.ends_with('m')) scale = kKiB * kKiB;
  if (scale != 1) text.remove_suffix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value <= 0) return {};
  if (value > INT64_MAX / scale) return {};
  return value * scale;
}

std::string with_commas(int64_t value) {
  const std::string digits = std::to_string(value);
  std::string result;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > (value < 0 ? 1U : 0U) && (digits.size() - i) % 3 == 0) result += ',';
    result += digits[i];
  }
  return result;
}

}  // namespace thimble
