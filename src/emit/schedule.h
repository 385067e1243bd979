#pragma once
// Which memory each value needs and when: storages, lifetimes, and their places from the planner.
//
// A storage is what a kernel call writes; values that only rename memory (reshape, permute) share
// the storage of their operand, and so does the result of a call that may overwrite an operand
// which dies there. The result of a call that reads its operand front to back may lie over an
// operand that dies there, if it begins far enough below: such pairs are the plan's overlaps. Step
// i is call i; outputs live until after the last call. Constants have no storage, the file holds
// them; nor have graph inputs, which the runtime reads from the caller's buffer, unless a value
// renames one: then it needs an address in the plan, and is copied there. An input or output of a
// delegate may lie where the delegate wants it in its scratch, which then lives as long as they do:
// nothing is copied. Done where the arena does not grow by it. A state has a storage that lives
// throughout, in which the call that makes its next content writes (target/state.h).

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/planner.h"
#include "engine/engine.h"

namespace thimble::emit {

struct Storage {
  plan::Buffer buffer;               // of 0 bytes if it lies inside another one
  ir::ValueId value = ir::kNoValue;  // first value that lives here; kNoValue for scratch
  int inside = -1;  // the storage that it is a piece of: a delegate's scratch, or its home's
  int64_t inside_offset = 0;
};

struct Schedule {
  std::vector<Storage> storages;
  std::vector<int> storage_of_value;  // by ValueId; -1 = none
  std::vector<ir::ValueId>
      source_of;  // by ValueId: the value whose bytes it renames (itself if none)
  std::vector<int> scratch_of_call;     // by call; -1 = none
  std::vector<int> kept_of_delegate;    // by delegate; -1 = none
  std::vector<plan::Overlap> overlaps;  // between storages
  int64_t kept_bytes = 0;               // of the states
  plan::Placement placement;
};

/// `states_from`: states lie behind that byte of the arena, and behind all that does not survive a
/// run, which other models may then have for theirs. Else wherever they fit.
[[nodiscard]] Schedule make_schedule(const engine::Lowered& lowered,
                                     std::optional<int64_t> states_from = {});

}  // namespace thimble::emit
