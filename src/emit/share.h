#pragma once
// One arena for several models, of which one runs at a time: what does not survive a run begins at
// the same byte in all of them, and behind the largest come, model after model, its states and what
// the runtime keeps for it. So all are initialized with the same memory, the last one first, since
// thimble_init may write wherever its own model does; then they run in any order. The outputs of
// one hold until another runs.

#include <span>
#include <vector>

#include "emit/schedule.h"

namespace thimble::emit {

struct SharedArena {
  std::vector<Schedule> schedules;
  int64_t bytes = 0;  // for all of them: arena, states, what the runtime keeps
  int64_t apart = 0;  // what they need with an arena each
};

/// None has delegates.
[[nodiscard]] SharedArena share_arena(std::span<const engine::Lowered* const> models);

/// What the runtime keeps beside the arena: known before the program is written.
[[nodiscard]] int64_t state_bytes(const engine::Lowered& lowered, const Schedule& schedule,
                                  size_t pointer_bytes = 4);

}  // namespace thimble::emit
