// SPDX-License-Identifier: Apache-2.0
// As unpacked_block.cpp, but all columns have one scale, and each row has a start value of its own.
// Registers of the loop: pair_loop.h, with rows of a as x and rows of b as weights.
//
//   r11 block
//   q3 q4 q5   four sums of each row     q6 q7 bounds

#include "kernels/mve/product_block.h"

#if THIMBLE_HAS_MVE
#include <cstddef>

#include "kernels/mve/pair_loop.h"

// clang-format off
// The products of three rows of a with the rows of b at r9 and r7.
#define THIMBLE_PRODUCT_PAIR \
  "ldm r11, {r1, r3, r5, lr}\n" \
  THIMBLE_CLEAR_PAIR_SUMS \
  THIMBLE_PAIR_LOOP("2") \
  "2:\n"

namespace thimble::kernels::mve {

static_assert(offsetof(ProductBlock, depth) == 12);
static_assert(offsetof(ProductBlock, b) == 16);
static_assert(offsetof(ProductBlock, y) == 20);
static_assert(offsetof(ProductBlock, row_start) == 32);
static_assert(offsetof(ProductBlock, starts) == 44);
static_assert(offsetof(ProductBlock, starts_end) == 48);
static_assert(offsetof(ProductBlock, left) == 52);
static_assert(offsetof(ProductBlock, y_zero_point) == 64);
static_assert(offsetof(ProductBlock, correction) == 68);
static_assert(offsetof(ProductBlock, min) == 72);

[[gnu::naked]] void multiply_products(ProductBlock*) {
  __asm__(
      "push {r4-r11, lr}\n"
      "vpush {d8-d15}\n"
      "mov r11, r0\n"
      "ldrd r1, r2, [r11, #72]\n"
      "vdup.32 q6, r1\n"
      "vdup.32 q7, r2\n"

      "3:\n"  // four columns
      "ldrd lr, r9, [r11, #12]\n"
      "add r7, r9, lr, lsl #1\n"
      THIMBLE_PRODUCT_PAIR
      "ldrd lr, r9, [r11, #12]\n"
      "vmov q3[2], q3[0], r0, r6\n"
      "add r9, lr\n"
      "vmov q4[2], q4[0], r2, r8\n"
      "add r7, r9, lr, lsl #1\n"
      "vmov q5[2], q5[0], r4, r10\n"
      THIMBLE_PRODUCT_PAIR
      "ldrd lr, r9, [r11, #12]\n"
      "vmov q3[3], q3[1], r0, r6\n"
      "ldr r12, [r11, #44]\n"
      "vmov q4[3], q4[1], r2, r8\n"
      "add r9, r9, lr, lsl #2\n"
      "vmov q5[3], q5[1], r4, r10\n"
      "add r10, r11, #52\n"
      "vldrw.32 q0, [r12], #16\n"
      "str r9, [r11, #16]\n"
      "ldm r10, {r0, r2, r4, r6, r8}\n"  // left, mult, right, y_zero_point, correction
      "add r10, r11, #20\n"
      "ldm r10, {r1, r3, r5, r7, r9, lr}\n"  // y, row_start

      "vadd.i32 q3, q3, q0\n"
      "vadd.i32 q4, q4, q0\n"
      "vadd.i32 q5, q5, q0\n"
      "vadd.i32 q3, q3, r7\n"
      "vadd.i32 q4, q4, r9\n"
      "vadd.i32 q5, q5, lr\n"
      "vshl.s32 q3, r0\n"
      "vshl.s32 q4, r0\n"
      "vshl.s32 q5, r0\n"
      "vqrdmulh.s32 q3, q3, r2\n"
      "vqrdmulh.s32 q4, q4, r2\n"
      "vqrdmulh.s32 q5, q5, r2\n"
      "vqdmlah.s32 q3, q3, r8\n"
      "vqdmlah.s32 q4, q4, r8\n"
      "vqdmlah.s32 q5, q5, r8\n"
      "vrshl.s32 q3, r4\n"
      "vrshl.s32 q4, r4\n"
      "vrshl.s32 q5, r4\n"
      "vqadd.s32 q3, q3, r6\n"
      "vqadd.s32 q4, q4, r6\n"
      "vqadd.s32 q5, q5, r6\n"
      "vmax.s32 q3, q3, q6\n"
      "vmax.s32 q4, q4, q6\n"
      "vmax.s32 q5, q5, q6\n"
      "vmin.s32 q3, q3, q7\n"
      "vmin.s32 q4, q4, q7\n"
      "vstrb.32 q3, [r1], #4\n"
      "vmin.s32 q5, q5, q7\n"
      "vstrb.32 q4, [r3], #4\n"
      "ldr r0, [r11, #48]\n"
      "vstrb.32 q5, [r5], #4\n"
      "stm r10, {r1, r3, r5}\n"
      "str r12, [r11, #44]\n"
      "cmp r12, r0\n"
      "bne 3b\n"
      "vpop {d8-d15}\n"
      "pop {r4-r11, pc}\n");
}

// clang-format on

}  // namespace thimble::kernels::mve
#endif
