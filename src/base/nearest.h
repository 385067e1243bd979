#pragma once
// Names that a misspelt one may have been meant for.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace thimble {

/// Insertions, deletions and replacements of a letter from one to the other.
[[nodiscard]] size_t edit_distance(std::string_view a, std::string_view b);

/// The known names that are few letters away or contain it (or are contained), nearest first.
[[nodiscard]] std::vector<std::string> nearest(std::string_view name,
                                               std::span<const std::string> known, size_t most);

/// "; close to it: corstone-300", or nothing.
[[nodiscard]] std::string close_to_it(std::string_view name, std::span<const std::string> known);

}  // namespace thimble
