// SPDX-License-Identifier: Apache-2.0
#pragma once
// The files of targets/, which the build embeds in the program.

#include <span>
#include <string_view>

namespace thimble::engine {

struct PartText {
  std::string_view name;  // file name without extension
  std::string_view text;
};
/// Sorted by name.
[[nodiscard]] std::span<const PartText> parts_text();

}  // namespace thimble::engine
