#pragma once
// Estimates the cycles of a real core from instruction counts by class. An emulator does not model
// the pipeline, so the result is an estimate, not a measurement. It only weights each class by the
// cycle count in the core's manual (cycles.def).

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace thimble::hostrun {

/// Number of executed instructions by the counter's class name, for example "multiply".
using InstructionClasses = std::map<std::string, int64_t, std::less<>>;

/// nullopt for a core without rows in cycles.def.
[[nodiscard]] std::optional<int64_t> estimated_cycles(std::string_view target,
                                                      const InstructionClasses& classes);

}  // namespace thimble::hostrun
