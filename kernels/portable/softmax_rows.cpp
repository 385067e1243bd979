// SPDX-License-Identifier: Apache-2.0
// thimble::softmax.packed: softmax of int8 rows with a table of exponentials; formula:
// docs/numerics.md, "Softmax"; constant: abi/packed_ops.h.
//
// Operands: x, SoftmaxRows constant, y. In place: y may be x.

#include "kernels/args/softmax_rows.h"
#include "abi/ops/normalization.h"

#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

void run(void* const* operands) {
  softmax_rows<LongProduct>(operands);
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_softmax_rows, check_softmax_rows, run);

}  // namespace thimble::kernels
