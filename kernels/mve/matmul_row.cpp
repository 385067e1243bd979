// SPDX-License-Identifier: Apache-2.0
// One row by eight channels: every even register is a sum; the odd registers point to x and to four
// pairs of channels. The loop register lr is also a sum, so the loop ends at the address of x in
// r11. 17 instructions compute 128 products; 9 of them load and 8 multiply: 18 cycles on the M55.
// The first 16 products set the sums instead of adding to them.
//
//   r0 r2   r4 r6   r8 r10   r12 lr   sums of channels 0 2, 1 3, 4 6, 5 7
//   r3      r5      r7       r9       their weights        r1 x      r11 end of x, then the block

#include "kernels/mve/matmul_row.h"

#if THIMBLE_HAS_MVE

// clang-format off
#define THIMBLE_TWO(a, weights, first, second) \
  "vldrb.8 q1, [" weights "], #16\n" \
  "vmladav" a ".s8 " first ", q0, q1\n" \
  "vldrb.8 q2, [" weights "], #16\n" \
  "vmladav" a ".s8 " second ", q0, q2\n"

#define THIMBLE_ONE(weights, sum) \
  "vldrb.8 q1, [" weights "], #32\n" \
  "vmladava.s8 " sum ", q0, q1\n"
#define THIMBLE_STEP_BYTES "68"
#define THIMBLE_SPLIT_EIGHT
#define THIMBLE_SPLIT_FOUR
// clang-format on

#include "kernels/mve/matmul_row_loops.h"

namespace thimble::kernels::mve {

[[gnu::naked]] void multiply_row(RowBlocks*) {
  __asm__(THIMBLE_MULTIPLY_ROW);
}

}  // namespace thimble::kernels::mve
#endif
