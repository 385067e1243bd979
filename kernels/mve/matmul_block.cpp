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
#include <cstddef>

#include "kernels/mve/matmul_finish.h"

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

// Computes two channels of three pixels.
#define THIMBLE_PAIR \
  "ldm r11, {r1, r3, r5, lr}\n" \
  "vldrb.8 q0, [r9]\n" \
  THIMBLE_STEP("") \
  "wlstp.8 lr, lr, 2f\n" \
  "1:\n" \
  THIMBLE_STEP("a") \
  "letp lr, 1b\n" \
  "2:\n"

// As THIMBLE_PAIR, with windows of several rows.
#define THIMBLE_WINDOW_PAIR \
  "add r12, r11, #40\n" \
  "ldm r12!, {r1, r3, r5, lr}\n" \
  "vldrb.8 q0, [r9]\n" \
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
  "3:\n"

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
      THIMBLE_PAIR
      THIMBLE_SUMS("2", "0")
      THIMBLE_PAIR
      THIMBLE_FINISH("r12")
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
      THIMBLE_WINDOW_PAIR
      THIMBLE_SUMS("2", "0")
      THIMBLE_WINDOW_PAIR
      THIMBLE_FINISH("r11")
      "bne 4b\n"
      "vpop {d8-d15}\n"
      "pop {r4-r11, pc}\n");
}

// clang-format on

}  // namespace thimble::kernels::mve
#endif
