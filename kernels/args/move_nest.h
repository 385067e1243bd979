#pragma once
// move: elements go to other places; x, Move constant (abi/packed_rows.h), y. Row after row on any
// core; variants take what suits them and leave the rest to it.

#include "kernels/kernels.h"

namespace thimble::kernels {

Status check_move_nest(const Call& call);
void run_move_nest(void* const* operands);

}  // namespace thimble::kernels
