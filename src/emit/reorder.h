#pragma once
// in_better_order: the calls of a program in another order, where that lowers the arena's bound.
// Nothing else changes, and programs with states or delegates stay as they are: there an order says
// more than who reads what. Search: plan/order.h.

#include "engine/engine.h"

namespace thimble::emit {

[[nodiscard]] engine::Lowered in_better_order(engine::Lowered lowered);

}  // namespace thimble::emit
