#pragma once
// From counts of instructions by class to an estimate of cycles on a real core. An emulator knows
// no pipeline, so this is no measurement and is never called one: it weighs a load or a branch as
// the core's manual does (cycles.def), no more.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace thimble::hostrun {

/// Executed instructions by the counter's class, "multiply".
using InstructionClasses = std::map<std::string, int64_t, std::less<>>;

/// Nothing for a core that cycles.def has no rows for.
[[nodiscard]] std::optional<int64_t> estimated_cycles(std::string_view target,
                                                      const InstructionClasses& classes);

}  // namespace thimble::hostrun
