#pragma once
// Computes storages, their lifetimes, and their addresses (from the planner).
//
// A storage is the memory that a kernel call writes. Values that only alias memory (reshape,
// permute) share the storage of their operand. So does the result of a call that may overwrite an
// operand whose last read is this call. If a call reads such an operand front to back, its result
// may overlap the operand, provided that it begins far enough below: these pairs are the plan's
// overlaps.
//
// Step i is call i. Outputs live until after the last call. Constants have no storage: they are in
// the file. Graph inputs have none either, because the runtime reads them in the application's
// buffer; an input that a value aliases is copied to an address in the plan. An input or output of
// a delegate may be placed at its position in the delegate's scratch, which then lives as long: no
// copy is needed. This is done only if the arena does not grow. A state has a storage that lives
// throughout; the call that makes its next content writes there (engine/state.h).

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/engine.h"
#include "plan/planner.h"

namespace thimble::emit {

struct Storage {
  plan::Buffer buffer;               // 0 bytes if it is inside another storage
  ir::ValueId value = ir::kNoValue;  // first value in it; kNoValue for scratch
  int container =
      -1;  // storage that contains it: a delegate's scratch, or the storage of its buffer
  int64_t container_offset = 0;
};

struct Schedule {
  std::vector<Storage> storages;
  std::vector<int> storage_of_value;   // by ValueId; -1 = none
  std::vector<ir::ValueId> source_of;  // by ValueId: the value that it aliases (itself if none)
  std::vector<int> scratch_of_call;    // by call; -1 = none
  std::vector<int> persistent_of_delegate;  // by delegate; -1 = none
  std::vector<plan::Overlap> overlaps;      // between storages
  int64_t kept_bytes = 0;                   // size of the states in bytes
  plan::Placement placement;
};

/// `states_offset_min`: states begin at this byte of the arena or later, after all memory that does
/// not survive a run; other models can then use that memory. If not set, states have any address.
[[nodiscard]] Schedule make_schedule(const engine::Lowered& lowered,
                                     std::optional<int64_t> states_offset_min = {});

}  // namespace thimble::emit
