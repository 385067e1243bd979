// thimble::move: elements go to other places: a change of order, a slice, a pad, an expansion;
// constant: abi/packed_rows.h.
//
// Operands: x, Move constant, y.

#include "kernels/args/move_nest.h"
#include "kernels/define.h"

namespace thimble::kernels {

THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_move, check_move_nest, run_move_nest);

}  // namespace thimble::kernels
