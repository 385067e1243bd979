// SPDX-License-Identifier: Apache-2.0
#pragma once
// Wait states of instructions in a memory of a part (docs/cycles.md, "Wait states of code").
// `compile`, `fit`, `diff` and `run --profile` use the same rule.
//
// Each jump to another line of instructions and each step to the next line is a read of the memory,
// except those that the instruction cache holds. The reads per cycle, and the share that a cache of
// a size does not hold, are means over networks (engine::CodeTraffic). Example: a Cortex-M0+ that
// executes 1.6 bytes per cycle with 0.1 jumps, from a flash of 2 wait states and 8 bytes per access
// without a cache, waits (0.1 + 1.6 / 8) * 2 = 0.6 cycles per cycle. With a prefetch, the next line
// is read while the core executes this one for 8 / 1.6 = 5 cycles, longer than the 3 of the read:
// only jumps wait, at most 0.2 cycles per cycle. The cache then keeps only lines that jumps read,
// so that even a small one holds the beginning of a loop.

#include "engine/code_traffic.h"
#include "engine/part.h"

namespace thimble::driver {

/// Returns true if the part's file states what the wait states of instructions depend on. A cache
/// that holds the loops of all kernels needs no other fact. Null: no memory, no wait states.
[[nodiscard]] bool code_waits_known(const engine::PartMemory* memory, const engine::Core& core);

/// Returns the bytes that one access delivers; a word of 4 bytes if the part's file states none.
[[nodiscard]] int64_t code_access_bytes(const engine::PartMemory& memory);

/// Returns the cycles that the core waits for instructions while it executes `cycles` cycles; 0 if
/// wait states or cache are not stated.
[[nodiscard]] double code_wait_cycles(const engine::PartMemory* memory, const engine::Core& core,
                                      double cycles);

/// Returns the wait cycles for each cycle of execution.
[[nodiscard]] double code_waits_per_cycle(const engine::PartMemory& memory,
                                          const engine::CodeTraffic& traffic);

}  // namespace thimble::driver
