#pragma once
// in_better_order: the calls of a program in another order, where that lowers the arena's bound.
// Nothing else changes, and programs with states or delegates stay as they are: there an order says
// more than who reads what. Search: plan/order.h.

#include "target/target.h"

namespace thimble::emit {

[[nodiscard]] target::Lowered in_better_order(target::Lowered lowered);

}  // namespace thimble::emit
