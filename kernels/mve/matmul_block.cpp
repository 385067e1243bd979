// Three pixels by two channels need six sums. vmladava can accumulate in even registers only, and
// this uses all of them except one. Two passes over the bytes of the pixels compute four channels,
// one vector per pixel. Of 12 instructions for 96 products 5 load and 6 multiply.
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
#include <cstddef>

// clang-format off
// Two channels of three pixels, depth 16; `a` adds to the sums.
#define THIMBLE_STEP(a) \
  "vldrb.8 q0, [r9], #16\n" \
  "vldrb.8 q2, [r1], #16\n" \
  "vmladav" a ".s8 r0, q0, q2\n" \
  "vldrb.8 q1, [r9], #16\n" \
  "vmladav" a ".s8 r6, q1, q2\n" \
  "vldrb.8 q2, [r3], #16\n" \
  "vmladav" a ".s8 r2, q0, q2\n" \
  "vmladav" a ".s8 r8, q1, q2\n" \
  "vldrb.8 q2, [r5], #16\n" \
  "vmladav" a ".s8 r4, q0, q2\n" \
  "vmladav" a ".s8 r10, q1, q2\n"

#define THIMBLE_SUMS(high, low) \
  "vmov q3[" high "], q3[" low "], r0, r6\n" \
  "vmov q4[" high "], q4[" low "], r2, r8\n" \
  "vmov q5[" high "], q5[" low "], r4, r10\n"

// Computes two channels of three pixels; the sums are moved to lanes `high` and `low`.
#define THIMBLE_PAIR(high, low) \
  "ldm r11, {r1, r3, r5, lr}\n" \
  THIMBLE_STEP("") \
  "wlstp.8 lr, lr, 2f\n" \
  "1:\n" \
  THIMBLE_STEP("a") \
  "letp lr, 1b\n" \
  "2:\n" \
  THIMBLE_SUMS(high, low)

// As THIMBLE_PAIR, with windows of several rows.
#define THIMBLE_WINDOW_PAIR(high, low) \
  "add r12, r11, #40\n" \
  "ldm r12!, {r1, r3, r5, lr}\n" \
  THIMBLE_STEP("") \
  "wls lr, lr, 2f\n" \
  "1:\n" \
  THIMBLE_STEP("a") \
  "le lr, 1b\n" \
  "2:\n" \
  "ldm r12!, {r1, r3, r5, lr}\n" \
  "wls lr, lr, 3f\n" \
  "1:\n" \
  THIMBLE_STEP("a") \
  "le lr, 1b\n" \
  "b 2b\n" \
  "3:\n" \
  THIMBLE_SUMS(high, low)

#define THIMBLE_THREE(instruction, operand) \
  instruction " q3, q3, " operand "\n" \
  instruction " q4, q4, " operand "\n" \
  instruction " q5, q5, " operand "\n"

// Requantizes: r0 r1 r2 y, r3 zero point of y, r4 negative_rounding_correction (mve/requant.h).
#define THIMBLE_FINISH \
  "vldrw.32 q0, [r7], #16\n" \
  THIMBLE_THREE("vadd.i32", "q0") \
  "vldrw.32 q0, [r7], #16\n" \
  THIMBLE_THREE("vqrdmulh.s32", "q0") \
  "vldrb.s32 q0, [r7], #4\n" \
  "cbz r4, 5f\n" \
  THIMBLE_THREE("vqdmlah.s32", "r4") \
  "5:\n" \
  THIMBLE_THREE("vrshl.s32", "q0") \
  THIMBLE_THREE("vadd.i32", "r3") \
  THIMBLE_THREE("vmax.s32", "q6") \
  THIMBLE_THREE("vmin.s32", "q7") \
  "vstrb.32 q3, [r0], #4\n" \
  "vstrb.32 q4, [r1], #4\n" \
  "vstrb.32 q5, [r2], #4\n"

namespace thimble::kernels::mve {

static_assert(offsetof(PixelBlocks, y) == 16);
static_assert(offsetof(PixelBlocks, weights) == 40);
static_assert(offsetof(PixelBlocks, blocks) == 48);
static_assert(offsetof(PixelBlocks, x_step) == 52);
static_assert(offsetof(PixelBlocks, min) == 60);

[[gnu::naked]] void multiply_pixels(PixelBlocks*) {
  __asm__(
      "push {r4-r11, lr}\n"
      "vpush {d8-d15}\n"
      "mov r11, r0\n"
      "add r12, r0, #16\n"
      "ldrd r1, r2, [r11, #60]\n"
      "vdup.32 q6, r1\n"
      "vdup.32 q7, r2\n"

      "3:\n"  // three pixels
      "ldrd r9, r7, [r11, #40]\n"

      "4:\n"  // four channels
      THIMBLE_PAIR("2", "0")
      THIMBLE_PAIR("3", "1")
      "ldm r12, {r0, r1, r2, r3, r4, r5}\n"
      THIMBLE_FINISH
      "stm r12, {r0, r1, r2}\n"
      "cmp r7, r5\n"
      "bne 4b\n"

      "ldrd r6, r7, [r11, #48]\n"  // blocks, x_step
      "subs r6, #1\n"
      "beq 6f\n"
      "ldr r8, [r11, #56]\n"  // y_step
      "ldm r11, {r3, r4, r5}\n"
      "add r3, r7\n"
      "add r4, r7\n"
      "add r5, r7\n"
      "stm r11, {r3, r4, r5}\n"
      "add r0, r8\n"
      "add r1, r8\n"
      "add r2, r8\n"
      "stm r12, {r0, r1, r2}\n"
      "str r6, [r11, #48]\n"
      "b 3b\n"

      "6:\n"
      "vpop {d8-d15}\n"
      "pop {r4-r11, pc}\n");
}

static_assert(offsetof(WindowBlock, weights) == 24);
static_assert(offsetof(WindowBlock, min) == 32);
static_assert(offsetof(WindowBlock, rows) == 40);

[[gnu::naked]] void multiply_windows(WindowBlock*) {
  __asm__(
      "push {r4-r11, lr}\n"
      "vpush {d8-d15}\n"
      "mov r11, r0\n"
      "ldrd r1, r2, [r11, #32]\n"
      "vdup.32 q6, r1\n"
      "vdup.32 q7, r2\n"
      "ldrd r9, r7, [r11, #24]\n"

      "4:\n"  // four channels
      THIMBLE_WINDOW_PAIR("2", "0")
      THIMBLE_WINDOW_PAIR("3", "1")
      "ldm r11, {r0, r1, r2, r3, r4, r5}\n"
      THIMBLE_FINISH
      "stm r11, {r0, r1, r2}\n"
      "cmp r7, r5\n"
      "bne 4b\n"
      "vpop {d8-d15}\n"
      "pop {r4-r11, pc}\n");
}

// clang-format on

}  // namespace thimble::kernels::mve
#endif
