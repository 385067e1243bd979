// SPDX-License-Identifier: Apache-2.0
#pragma once
// Control characters in texts of files: they would change the lines of a text format, or reach a
// terminal as a command.

#include <algorithm>
#include <string>
#include <string_view>

namespace thimble::base {

[[nodiscard]] inline bool is_control_character(char letter) {
  return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7F;
}

/// Returns true if the text contains a control character.
[[nodiscard]] inline bool has_control_character(std::string_view text) {
  return std::ranges::any_of(text, is_control_character);
}

/// Returns the text with `replacement` for each control character.
[[nodiscard]] inline std::string without_control_characters(std::string_view text,
                                                            char replacement) {
  std::string result(text);
  std::ranges::replace_if(result, is_control_character, replacement);
  return result;
}

}  // namespace thimble::base
