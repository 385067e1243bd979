// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sizes as users write and read them: "64", "256K", "2M"; "1,234,567".

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace thimble {

/// Parses a positive integer that may end in K (1024) or M (1024 * 1024). Returns nothing for any
/// other text and for a value that does not fit.
[[nodiscard]] std::optional<int64_t> parse_size(std::string_view text);

/// Returns "1,234,567" for 1234567.
[[nodiscard]] std::string with_commas(int64_t value);

}  // namespace thimble
