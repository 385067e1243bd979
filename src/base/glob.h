// SPDX-License-Identifier: Apache-2.0
#pragma once
// Patterns in which `*` matches any characters.

#include <string_view>

namespace thimble {

/// Returns true if the pattern matches the whole name.
[[nodiscard]] bool glob_matches(std::string_view pattern, std::string_view name);

}  // namespace thimble
