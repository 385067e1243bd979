// SPDX-License-Identifier: Apache-2.0
#pragma once
// Wait states that a time lacks because the part's file does not state what they depend on. Such a
// time is a lower bound: it has no error band, and it meets no requirement.

#include <string>
#include <vector>

#include "driver/operand_memories.h"

namespace thimble::driver {

struct MissingWaits {
  std::vector<std::string> memories;  // by name, each once; empty: the time has all wait states
  std::vector<std::string> notes;     // one sentence for each missing fact
};

/// Checks all memories with operands or code. A part without a memory of the arena, or of
/// constants, lacks the wait states of `sram`, or of `flash`.
[[nodiscard]] MissingWaits missing_waits(const engine::Part& part, const OperandMemories& memories);

/// "wait states of flash and sram"; empty if `memories` is.
[[nodiscard]] std::string missing_waits_text(const std::vector<std::string>& memories);

}  // namespace thimble::driver
