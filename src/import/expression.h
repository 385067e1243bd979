#pragma once
// Arithmetic on symbolic sizes, as the archive writes it: "2*s0", "(s0 - 1)//2 + 1", or in calls,
// "Add(FloorDiv(Symbol('s0', integer=True), Integer(2)), Integer(1))".

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace thimble::import_pt2 {

using SymbolValues = std::map<std::string, int64_t, std::less<>>;

/// The value, or what cannot be evaluated: a symbol without value, an unknown function, a number
/// that no size can have.
[[nodiscard]] Result<int64_t> evaluate(std::string_view expression, const SymbolValues& symbols);

/// The symbols of an expression, each once, in the order of their first use.
[[nodiscard]] Result<std::vector<std::string>> symbols_of(std::string_view expression);

}  // namespace thimble::import_pt2
