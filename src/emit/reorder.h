#pragma once
// reorder_calls() reorders the calls of a program if that reduces the lower bound of the arena.
// Nothing else changes. Programs with states or delegates keep their order, because there the order
// expresses more than data dependences. Search: plan/execution_order.h.

#include "engine/engine.h"

namespace thimble::emit {

[[nodiscard]] engine::Lowered reorder_calls(engine::Lowered lowered);

}  // namespace thimble::emit
