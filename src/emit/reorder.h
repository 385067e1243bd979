#pragma once
// in_better_order() reorders the calls of a program if that reduces the lower bound of the arena.
// Nothing else changes. Programs with states or delegates keep their order, because there the order
// expresses more than data dependences. Search: plan/order.h.

#include "engine/engine.h"

namespace thimble::emit {

[[nodiscard]] engine::Lowered in_better_order(engine::Lowered lowered);

}  // namespace thimble::emit
