#pragma once
// Sizes as users write them: "64", "256K", "2M".

#include <cstdint>
#include <optional>
#include <string_view>

namespace thimble {

/// Parses a positive integer that may end in K (1024) or M (1024 * 1024). Returns nothing for any
/// other text and for a value that does not fit.
[[nodiscard]] std::optional<int64_t> parse_size(std::string_view text);

}  // namespace thimble
