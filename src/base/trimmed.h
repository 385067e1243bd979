// SPDX-License-Identifier: Apache-2.0
#pragma once
// Text without the spaces around it.

#include <string_view>

namespace thimble {

[[nodiscard]] constexpr std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace thimble
