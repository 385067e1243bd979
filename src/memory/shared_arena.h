// SPDX-License-Identifier: Apache-2.0
#pragma once
// One arena for several models, of which one runs at a time. Memory that does not survive a run
// begins at the same byte for all models. After the largest of these ranges follow, model by model,
// its states and the runtime's data. All models are initialized with the same memory, the last one
// first, because thimble_init may write anywhere in the range of its own model. Then they run in
// any order. The outputs of one model are valid until another model runs.

#include <span>
#include <vector>

#include "memory/memory_plan.h"

namespace thimble::memory {

struct SharedArena {
  std::vector<MemoryPlan> memory_plans;  // by model
  /// Total: arena, states, data of the runtime with 8-byte pointers, so that the host can load it.
  int64_t bytes = 0;
  /// Total if each model has an arena of its own, on the device: with 4-byte pointers.
  int64_t separate_bytes = 0;
};

/// The models must not have delegates.
[[nodiscard]] SharedArena share_arena(std::span<const engine::Lowered* const> models);

/// Returns the plans of methods that share the arena and all states, by method: the arenas have the
/// same size, and each state has the same address in all of them. The models have no delegates, and
/// states with the same names and sizes.
[[nodiscard]] std::vector<MemoryPlan> plan_methods(std::span<const engine::Lowered* const> methods);

/// Returns the bytes that the runtime needs in addition to the arena. They are known before the
/// program is written.
[[nodiscard]] int64_t runtime_bytes(const engine::Lowered& lowered, const MemoryPlan& memory_plan,
                                    size_t pointer_bytes = 4);

}  // namespace thimble::memory
