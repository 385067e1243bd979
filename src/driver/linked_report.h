#pragma once
// The report's lines and JSON members on linked flash, RAM and stack.

#include <string>

#include <nlohmann/json.hpp>

#include "driver/compile.h"

namespace thimble::driver {

/// Returns "weights 32,752, program 4,400, code 13,256 (gcc 12.2.1, ...)".
[[nodiscard]] std::string flash_detail(const CompileReport& report);
/// Returns ", state 32, variables 84, stack at most 716", what RAM has in addition to the arena.
[[nodiscard]] std::string other_ram_detail(const CompileReport& report);
/// Returns a line on what the sizes of linked code hold for; empty if they are not known.
[[nodiscard]] std::string linked_line(const CompileReport& report);

[[nodiscard]] nlohmann::ordered_json linked_json(const CompileReport& report);

}  // namespace thimble::driver
