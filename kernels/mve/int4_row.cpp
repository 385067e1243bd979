// SPDX-License-Identifier: Apache-2.0
// The loops of matmul_row.cpp for weights of 4 bits (int4_block.cpp). A step has 21 instructions
// instead of 17: for two channels, two shifts replace a load.

#include "kernels/mve/int4_layer.h"

#if THIMBLE_HAS_MVE

// clang-format off
#define THIMBLE_TWO(a, weights, first, second) \
  "vldrb.8 q1, [" weights "], #16\n" \
  "vshl.i8 q2, q1, #4\n" \
  "vmladav" a ".s8 " first ", q0, q2\n" \
  "vshr.s8 q1, q1, #4\n" \
  "vmladav" a ".s8 " second ", q0, q1\n"
#define THIMBLE_ONE(weights, sum) \
  "vldrb.8 q1, [" weights "], #16\n" \
  "vshl.i8 q1, q1, #4\n" \
  "vmladava.s8 " sum ", q0, q1\n"
#define THIMBLE_STEP_BYTES "84"
#define THIMBLE_SPLIT_EIGHT \
  "asr r0, r0, #4\n" \
  "asr r4, r4, #4\n" \
  "asr r8, r8, #4\n" \
  "asr r12, r12, #4\n"
#define THIMBLE_SPLIT_FOUR \
  "asr r0, r0, #4\n" \
  "asr r4, r4, #4\n"
// clang-format on

#include "kernels/mve/matmul_row_loops.h"

namespace thimble::kernels::mve {

[[gnu::naked]] void multiply_int4_row(RowBlocks*) {
  __asm__(THIMBLE_MULTIPLY_ROW);
}

}  // namespace thimble::kernels::mve
#endif
