#pragma once
// in_better_order() reorders the calls of a program if that reduces the lower bound of the arena.
// Nothing else changes. Programs with states or delegates keep their order, because there the order
// expresses more than data dependences. Search: plan/order.h.

#include "target/target.h"

namespace thimble::emit {

[[nodiscard]] target::Lowered in_better_order(target::Lowered lowered);

}  // namespace thimble::emit
