// SPDX-License-Identifier: Apache-2.0
// As matmul_block.cpp, but each channel's weights are contiguous, and the weights of a pair of
// channels have two pointers. A step of 96 products has 11 instructions and the end of the loop:
// the first weights are not loaded in advance, because that would read bytes after the weights. All
// other work costs about 60 instructions per 12 results.
//
//   r0 r2 r4   sums of the first channel of a pair     r6 r8 r10  of the second
//   r1 r3 r5   pixels      r9 r7 weights of both channels      r11 block      r12 rows      lr loop
//   q3 q4 q5   four sums of each pixel     q6 q7 bounds
//
// A tail-predicated loop advances its pointers by whole vectors; row_step corrects the weights.

#include "kernels/mve/unpacked_block.h"

#if THIMBLE_HAS_MVE
#include <cstddef>

#include "kernels/mve/matmul_finish.h"
#include "kernels/mve/pair_loop.h"

// clang-format off
// Two channels of three pixels. `second` are instructions that advance r9 from the first pair of
// channels, 0 and 2, to the second pair, 1 and 3; r7 is the depth.
#define THIMBLE_UNPACKED_PAIR(second) \
  "ldr r9, [r11, #24]\n" \
  "ldrd r7, r12, [r11, #40]\n" \
  second \
  "add r7, r9, r7, lsl #1\n" \
  THIMBLE_CLEAR_PAIR_SUMS \
  "2:\n" \
  "ldm r12!, {r1, r3, r5, lr}\n" \
  THIMBLE_PAIR_LOOP("3") \
  "ldr lr, [r11, #48]\n" \
  "add r9, lr\n" \
  "add r7, lr\n" \
  "b 2b\n" \
  "3:\n"

namespace thimble::kernels::mve {

static_assert(offsetof(UnpackedBlock, weights) == 24);
static_assert(offsetof(UnpackedBlock, quads) == 28);
static_assert(offsetof(UnpackedBlock, min) == 32);
static_assert(offsetof(UnpackedBlock, depth) == 40);
static_assert(offsetof(UnpackedBlock, row_step) == 48);

[[gnu::naked]] void multiply_unpacked(UnpackedBlock*) {
  __asm__(
      "push {r4-r11, lr}\n"
      "vpush {d8-d15}\n"
      "mov r11, r0\n"
      "ldrd r1, r2, [r11, #32]\n"
      "vdup.32 q6, r1\n"
      "vdup.32 q7, r2\n"

      "4:\n"  // four channels
      THIMBLE_UNPACKED_PAIR("")
      THIMBLE_SUMS("2", "0")
      THIMBLE_UNPACKED_PAIR("add r9, r7\n")
      "ldrd r9, r7, [r11, #24]\n"
      "ldr r1, [r11, #40]\n"
      "add r9, r9, r1, lsl #2\n"
      THIMBLE_FINISH("r11")
      "strd r9, r7, [r11, #24]\n"
      "bne 4b\n"
      "vpop {d8-d15}\n"
      "pop {r4-r11, pc}\n");
}

static_assert(offsetof(UnpackedRowBlock, weights) == 4);
static_assert(offsetof(UnpackedRowBlock, bias) == 12);
static_assert(offsetof(UnpackedRowBlock, y) == 24);
static_assert(offsetof(UnpackedRowBlock, y_zero_point) == 32);
static_assert(offsetof(UnpackedRowBlock, min) == 40);
static_assert(offsetof(UnpackedRowBlock, y_end) == 48);

// r0 r2 r4 r10: sums of channels 0 2 1 3; r3 r7 r5 r9: their weights; r1: x; r6: y; r8: y_end; r12:
// correction; r11: block; lr: loop. q5: zero point; q6 q7: bounds.
[[gnu::naked]] void multiply_unpacked_row(UnpackedRowBlock*) {
  __asm__(
      "push {r4-r11, lr}\n"
      "vpush {d8-d15}\n"
      "mov r11, r0\n"
      "ldrd r1, r2, [r11, #40]\n"
      "vdup.32 q6, r1\n"
      "vdup.32 q7, r2\n"
      "ldrd r8, r12, [r11, #32]\n"
      "vdup.32 q5, r8\n"
      "ldr r8, [r11, #48]\n"
      "ldr r6, [r11, #24]\n"

      "4:\n"
      "ldm r11, {r1, r9, lr}\n"
      "mov r3, r9\n"
      "add r5, r3, lr\n"
      "add r7, r5, lr\n"
      "add r9, r7, lr\n"
      "add r0, r9, lr\n"
      "str r0, [r11, #4]\n"
      "movs r0, #0\n"
      "mov r2, r0\n"
      "mov r4, r0\n"
      "mov r10, r0\n"
      "wlstp.8 lr, lr, 2f\n"
      "1:\n"
      "vldrb.8 q0, [r1], #16\n"
      "vldrb.8 q1, [r3], #16\n"
      "vmladava.s8 r0, q0, q1\n"
      "vldrb.8 q2, [r7], #16\n"
      "vmladava.s8 r2, q0, q2\n"
      "vldrb.8 q1, [r5], #16\n"
      "vmladava.s8 r4, q0, q1\n"
      "vldrb.8 q2, [r9], #16\n"
      "vmladava.s8 r10, q0, q2\n"
      "letp lr, 1b\n"
      "2:\n"
      "vmov q3[2], q3[0], r0, r2\n"
      "vmov q3[3], q3[1], r4, r10\n"
      "add r10, r11, #12\n"
      "ldm r10, {r0, r1, r2}\n"  // bias, mult, shift
      "ldr r9, [r11, #28]\n"  // scale_step
      "vldrw.32 q0, [r0], #16\n"
      "vldrw.32 q1, [r1]\n"
      "vadd.i32 q3, q3, q0\n"
      "vqrdmulh.s32 q3, q3, q1\n"
      "vldrw.32 q2, [r2]\n"
      "vqdmlah.s32 q3, q3, r12\n"
      "add r1, r9\n"
      "vrshl.s32 q3, q3, q2\n"
      "add r2, r9\n"
      "vadd.i32 q3, q3, q5\n"
      "stm r10, {r0, r1, r2}\n"
      "vmax.s32 q3, q3, q6\n"
      "vmin.s32 q3, q3, q7\n"
      "vstrb.32 q3, [r6], #4\n"
      "cmp r6, r8\n"
      "bne 4b\n"
      "vpop {d8-d15}\n"
      "pop {r4-r11, pc}\n");
}

// clang-format on

}  // namespace thimble::kernels::mve
#endif
