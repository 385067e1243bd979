#pragma once
// One arena for several models, of which one runs at a time. Memory that does not survive a run
// begins at the same byte for all models. After the largest of these ranges follow, model by model,
// its states and the runtime's data. All models are initialized with the same memory, the last one
// first, because thimble_init may write anywhere in the range of its own model. Then they run in
// any order. The outputs of one model are valid until another model runs.

#include <span>
#include <vector>

#include "emit/schedule.h"

namespace thimble::emit {

struct SharedArena {
  std::vector<Schedule> schedules;
  int64_t bytes = 0;           // total: arena, states, data of the runtime
  int64_t separate_bytes = 0;  // total if each model has an arena of its own
};

/// The models must not have delegates.
[[nodiscard]] SharedArena share_arena(std::span<const engine::Lowered* const> models);

/// Returns the bytes that the runtime needs in addition to the arena. They are known before the
/// program is written.
[[nodiscard]] int64_t state_bytes(const engine::Lowered& lowered, const Schedule& schedule,
                                  size_t pointer_bytes = 4);

}  // namespace thimble::emit
