// SPDX-License-Identifier: Apache-2.0
#pragma once
// Options of the form NAME=NUMBER.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace thimble::tools {

/// Adds each `NAME=N` to `values`. N is positive and may end in K (1024) or M.
[[nodiscard]] Status parse_bytes(const std::vector<std::string>& pairs, std::string_view option,
                                 std::map<std::string, int64_t>* values);

/// Adds each `NAME=N` of --shape to `values`. N is an integer; the import checks its range.
[[nodiscard]] Status parse_shapes(const std::vector<std::string>& pairs,
                                  std::map<std::string, int64_t>* values);

}  // namespace thimble::tools
