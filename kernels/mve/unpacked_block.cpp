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

// clang-format off
// Two channels of three pixels. `second` are instructions that advance r9 from the first pair of
// channels, 0 and 2, to the second pair, 1 and 3; r7 is the depth.
#define THIMBLE_UNPACKED_PAIR(second) \
  "ldr r9, [r11, #24]\n" \
  "ldrd r7, r12, [r11, #40]\n" \
  second \
  "add r7, r9, r7, lsl #1\n" \
  "movs r0, #0\n" \
  "mov r2, r0\n" \
  "mov r4, r0\n" \
  "mov r6, r0\n" \
  "mov r8, r0\n" \
  "mov r10, r0\n" \
  "2:\n" \
  "ldm r12!, {r1, r3, r5, lr}\n" \
  "wlstp.8 lr, lr, 3f\n" \
  "1:\n" \
  "vldrb.8 q0, [r9], #16\n" \
  "vldrb.8 q2, [r1], #16\n" \
  "vmladava.s8 r0, q0, q2\n" \
  "vldrb.8 q1, [r7], #16\n" \
  "vmladava.s8 r6, q1, q2\n" \
  "vldrb.8 q2, [r3], #16\n" \
  "vmladava.s8 r8, q1, q2\n" \
  "vmladava.s8 r2, q0, q2\n" \
  "vldrb.8 q2, [r5], #16\n" \
  "vmladava.s8 r4, q0, q2\n" \
  "vmladava.s8 r10, q1, q2\n" \
  "letp lr, 1b\n" \
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

// clang-format on

[[gnu::noinline]] void sum_row(const int8_t* x, const int8_t* weights, uint32_t depth,
                               uint32_t count, uint32_t (&sums)[4]) {
  const int8_t* w1 = count > 1 ? weights + depth : weights;
  const int8_t* w2 = count > 2 ? w1 + depth : weights;
  const int8_t* w3 = count > 3 ? w2 + depth : weights;
  uint32_t sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
  __asm__ volatile(
      "wlstp.8 lr, %[depth], 2f\n"
      "1:\n"
      "vldrb.8 q0, [%[x]], #16\n"
      "vldrb.8 q1, [%[w0]], #16\n"
      "vmladava.s8 %[sum0], q0, q1\n"
      "vldrb.8 q2, [%[w1]], #16\n"
      "vmladava.s8 %[sum1], q0, q2\n"
      "vldrb.8 q1, [%[w2]], #16\n"
      "vmladava.s8 %[sum2], q0, q1\n"
      "vldrb.8 q2, [%[w3]], #16\n"
      "vmladava.s8 %[sum3], q0, q2\n"
      "letp lr, 1b\n"
      "2:\n"
      : [x] "+r"(x), [w0] "+r"(weights), [w1] "+r"(w1), [w2] "+r"(w2), [w3] "+r"(w3),
        [sum0] "+Te"(sum0), [sum1] "+Te"(sum1), [sum2] "+Te"(sum2), [sum3] "+Te"(sum3)
      : [depth] "r"(depth)
      : "q0", "q1", "q2", "lr", "memory");
  sums[0] = sum0;
  sums[1] = sum1;
  sums[2] = sum2;
  sums[3] = sum3;
}

}  // namespace thimble::kernels::mve
#endif
