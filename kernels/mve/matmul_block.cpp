// SPDX-License-Identifier: Apache-2.0
// Three pixels by two channels need six sums. vmladava can accumulate in even registers only, and
// this uses all of them except one. Two passes over the bytes of the pixels compute four channels,
// one vector per pixel. Of 12 instructions for 96 products 5 load and 6 multiply; they take 12
// cycles, because each step loads the first weights of the next step before its last product. The
// last step reads 16 bytes after the weights (abi/matmul_mve.h).
//
// All other work costs 37 instructions per 12 results. The first 16 products set the sums instead
// of adding to them; biases are added to four sums at once; the pointers are stored in the block,
// so that one instruction loads all of them; the weights are read sequentially.
//
//   r0 r2 r4   sums of the first channel of a pair     r6 r8 r10  of the second
//   r1 r3 r5   pixels      r7 quads      r9 weights     r11 block      r12 its y      lr loop
//   q3 q4 q5   four sums of each pixel     q6 q7 bounds
//
// The loops are in assembly, because GCC 12 neither generates a tail-predicated loop with six sums
// nor keeps the sums in their registers.

#include "kernels/mve/matmul_block.h"

#if THIMBLE_HAS_MVE

// clang-format off
// Two channels of three pixels, depth 16; `a` adds to the sums. q0 holds the weights of the first
// channel, which are at r9; at the end, those of the next step.
#define THIMBLE_STEP(a) \
  "vldrb.8 q2, [r1], #16\n" \
  "vmladav" a ".s8 r0, q0, q2\n" \
  "vldrb.8 q1, [r9, #16]\n" \
  "vmladav" a ".s8 r6, q1, q2\n" \
  "vldrb.8 q2, [r3], #16\n" \
  "vmladav" a ".s8 r8, q1, q2\n" \
  "vmladav" a ".s8 r2, q0, q2\n" \
  "vldrb.8 q2, [r5], #16\n" \
  "vmladav" a ".s8 r4, q0, q2\n" \
  "vldrb.8 q0, [r9, #32]!\n" \
  "vmladav" a ".s8 r10, q1, q2\n"

#define THIMBLE_SPLIT
// clang-format on

#include "kernels/mve/matmul_loops.h"

namespace thimble::kernels::mve {

[[gnu::naked]] void multiply_pixels(PixelBlocks*) {
  __asm__(THIMBLE_MULTIPLY_PIXELS);
}

[[gnu::naked]] void multiply_windows(WindowBlock*) {
  __asm__(THIMBLE_MULTIPLY_WINDOWS);
}

}  // namespace thimble::kernels::mve
#endif
