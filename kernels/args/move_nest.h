// SPDX-License-Identifier: Apache-2.0
#pragma once
// Check and loop of move: x, Move constant (abi/packed_ops.h), y. The loop runs row by row on any
// core; variants implement special cases and call it for all others.

#include "kernels/kernels.h"

namespace thimble::kernels {

Status check_move_nest(const Call& call);
void run_move_nest(void* const* operands);

}  // namespace thimble::kernels
