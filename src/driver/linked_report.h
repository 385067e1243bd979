// SPDX-License-Identifier: Apache-2.0
#pragma once
// The report's lines and JSON members on linked flash, RAM and stack.

#include <string>

#include <nlohmann/json.hpp>

#include "driver/compile.h"

namespace thimble::driver {

/// Returns "weights 32,752, program 4,400, code 13,256".
[[nodiscard]] std::string flash_detail(const CompileReport& report);
/// Returns ", state 32, variables 84, stack 716": what RAM has in addition to the arena. C output
/// has no state.
[[nodiscard]] std::string other_ram_detail(const CompileReport& report);
/// Returns the lines that name the compiler, and what the sizes do not include; empty if the sizes
/// of linked code are not known.
[[nodiscard]] std::string linked_line(const CompileReport& report);

[[nodiscard]] nlohmann::ordered_json linked_json(const CompileReport& report);

}  // namespace thimble::driver
