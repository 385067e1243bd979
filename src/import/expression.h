// SPDX-License-Identifier: Apache-2.0
#pragma once
// Evaluates symbolic sizes as written in the archive: infix expressions such as "2*s0" and
// "(s0 - 1)//2 + 1", or calls such as "Add(FloorDiv(Symbol('s0', integer=True), Integer(2)),
// Integer(1))".

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace thimble::import_pt2 {

using SymbolValues = std::map<std::string, int64_t, std::less<>>;

/// Returns the value of the expression. Returns an error for a symbol without a value, an unknown
/// function, or a number that is out of the range of sizes.
[[nodiscard]] Result<int64_t> evaluate(std::string_view expression, const SymbolValues& symbols);

/// Returns the symbols of an expression without duplicates, in the order of their first use.
[[nodiscard]] Result<std::vector<std::string>> symbols_of(std::string_view expression);

}  // namespace thimble::import_pt2
