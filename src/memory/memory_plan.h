// SPDX-License-Identifier: Apache-2.0
#pragma once
// Computes the memory plan: ranges of the arena, their lifetimes, and their addresses (from the
// planner, memory/placement.h).
//
// An arena range is a buffer of one or more values, the scratch of a call, the memory of a
// delegate, or a part of another range (then `buffer.bytes` is 0). Buffers come from
// BufferAliasing, which also lists the pairs that may overlap.
//
// Step i is call i. Outputs live until after the last call. Constants have no range: they are in
// the file. Graph inputs have none either (the runtime reads them in the application's buffer),
// with two exceptions: with Lowered::owns_inputs all inputs are in the arena, and an input that a
// value aliases is copied to the arena. An input or output of a delegate may be placed at its
// position in the delegate's scratch, which then lives as long: no copy is needed. This is done
// only if the arena does not grow. If calls run while the delegate works (KernelCall::overlap), its
// scratch, inputs and outputs live until the last of them. A state has a range that lives
// throughout; the call that computes its next content writes there (engine/state.h).

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/engine.h"
#include "memory/placement.h"

namespace thimble::memory {

struct ArenaRange {
  Buffer buffer;  // 0 bytes if it is inside another range
  /// Its largest value, for reports; kNoValue for scratch and for memory of a delegate.
  ir::ValueId value = ir::kNoValue;
  /// Inside another range are: a value in the scratch of a delegate, and a value that does not
  /// begin at byte 0 of its buffer.
  int outer = -1;            // index of the range that contains it; -1: none
  int64_t outer_offset = 0;  // its first byte in `outer`
};

struct MemoryPlan {
  std::vector<ArenaRange> ranges;
  std::vector<int> range_of_value;     // by ValueId; -1 = none
  std::vector<ir::ValueId> source_of;  // by ValueId: the value that it aliases (itself if none)
  std::vector<int> scratch_of_call;    // by call; -1 = none
  std::vector<int> persistent_of_delegate;  // by delegate; -1 = none
  std::vector<Overlap> overlaps;            // between ranges
  int64_t state_bytes = 0;                  // size of the states
  Placement placement;
};

/// `states_offset_min`: states begin at this byte of the arena or later, after all memory that does
/// not survive a run; other models can then use that memory. If not set, states have any address.
[[nodiscard]] MemoryPlan plan_memory(const engine::Lowered& lowered,
                                     std::optional<int64_t> states_offset_min = {});

/// Returns the bytes of all ranges that are live at this step.
[[nodiscard]] int64_t live_bytes(const MemoryPlan& memory_plan, size_t step);

}  // namespace thimble::memory
