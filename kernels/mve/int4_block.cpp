// SPDX-License-Identifier: Apache-2.0
// The loops of matmul_block.cpp for weights of 4 bits. One load reads 16 weights of two channels; a
// shift left gives 16 times those of the first channel, a shift right those of the second. A step
// has 12 instructions, as with 8 bits: two shifts replace a load. The sums of the first channel are
// divided by 16 after the loop, which is exact.

#include "kernels/mve/int4_layer.h"

#if THIMBLE_HAS_MVE

// clang-format off
// q0 holds the pairs of weights, which are at r9; at the end, those of the next step.
#define THIMBLE_STEP(a) \
  "vldrb.8 q2, [r1], #16\n" \
  "vshl.i8 q1, q0, #4\n" \
  "vmladav" a ".s8 r0, q1, q2\n" \
  "vshr.s8 q0, q0, #4\n" \
  "vmladav" a ".s8 r6, q0, q2\n" \
  "vldrb.8 q2, [r3], #16\n" \
  "vmladav" a ".s8 r8, q0, q2\n" \
  "vmladav" a ".s8 r2, q1, q2\n" \
  "vldrb.8 q2, [r5], #16\n" \
  "vmladav" a ".s8 r10, q0, q2\n" \
  "vldrb.8 q0, [r9, #16]!\n" \
  "vmladav" a ".s8 r4, q1, q2\n"
#define THIMBLE_SPLIT \
  "asr r0, r0, #4\n" \
  "asr r2, r2, #4\n" \
  "asr r4, r4, #4\n"
// clang-format on

#include "kernels/mve/matmul_loops.h"

namespace thimble::kernels::mve {

[[gnu::naked]] void multiply_int4_pixels(PixelBlocks*) {
  __asm__(THIMBLE_MULTIPLY_PIXELS);
}

[[gnu::naked]] void multiply_int4_windows(WindowBlock*) {
  __asm__(THIMBLE_MULTIPLY_WINDOWS);
}

}  // namespace thimble::kernels::mve
#endif
