// SPDX-License-Identifier: Apache-2.0
#pragma once
// Suggestions for a misspelt name.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace thimble {

/// Returns the Levenshtein distance: the number of inserted, deleted and replaced letters.
[[nodiscard]] size_t edit_distance(std::string_view a, std::string_view b);

/// Returns at most `most` known names that are similar to `name`, nearest first. A name is similar
/// if the edit distance is small or if one name contains the other.
[[nodiscard]] std::vector<std::string> nearest(std::string_view name,
                                               std::span<const std::string> known, size_t most);

/// Returns text such as "; similar names: corstone-300", or an empty string if no name is similar.
[[nodiscard]] std::string suggestions(std::string_view name, std::span<const std::string> known);

}  // namespace thimble
