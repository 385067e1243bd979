// SPDX-License-Identifier: Apache-2.0
#pragma once
// The `named_data` entry "thimble_state" (abi/named_data.h): the ranges of the arena that
// survive a run, and their initial content.

#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "formats/pte/program.h"
#include "memory/memory_plan.h"

namespace thimble::emit {

/// Initial content of a range of the arena.
struct StateContent {
  uint32_t offset = 0, bytes = 0;
  uint8_t fill = 0;
  Bytes content;  // if empty, every byte is `fill`
};

/// Returns the entry; nullopt without states. A state has a fill byte if all its bytes are equal,
/// else the bytes.
[[nodiscard]] std::optional<formats::pte::NamedData> state_entry(
    const ir::Graph& graph, const memory::MemoryPlan& memory_plan);
/// Reads the entry; no states if the file has no such entry.
[[nodiscard]] Result<std::vector<StateContent>> read_states(const formats::pte::Program& program);

}  // namespace thimble::emit
