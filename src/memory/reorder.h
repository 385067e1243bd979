// SPDX-License-Identifier: Apache-2.0
#pragma once
// reorder_calls() reorders the calls of a program if that reduces the lower bound of the arena.
// Nothing else changes. Programs with states or delegates keep their order, because
// BufferAliasing and the search know only data dependences, not that a state may be overwritten
// only after its last read. Search: memory/execution_order.h.

#include "engine/engine.h"

namespace thimble::memory {

[[nodiscard]] engine::Lowered reorder_calls(engine::Lowered lowered);

}  // namespace thimble::memory
