// SPDX-License-Identifier: Apache-2.0
// thimble::move: a strided copy, for example a change of dim_order, a slice, a pad or an expansion;
// constant: abi/packed_ops.h.
//
// Operands: x, Move constant, y.

#include "abi/ops/movement.h"
#include "kernels/args/move_nest.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {

THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_move, check_move_nest, run_move_nest);

}  // namespace thimble::kernels
