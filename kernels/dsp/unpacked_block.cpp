// SPDX-License-Identifier: Apache-2.0
// Both activations and weights are widened to pairs of int16 each time: 20 instructions compute 16
// products, and 3 more end a step of 32. All other work costs about 60 instructions per 4 results.
// The requantization is that of conv_blocks.cpp.
//
//   r0 r1 pixels     r2 r3 weights of both channels     r4 r5 sums of the first channel
//   r6 r7 sums of the second channel     r8-r12, lr activations and weights
// Stack: the current row, the end of the steps of 8 bytes, the bytes after them, the block.

#include "kernels/dsp/unpacked_block.h"

#if THIMBLE_HAS_DSP
#include <cstddef>

// clang-format off
#define THIMBLE_UNPACKED_CHANNEL(weights, sum0, sum1) \
  "ldr r12, [" weights "], #4\n" \
  "sxtb16 lr, r12\n" \
  "sxtb16 r12, r12, ror #8\n" \
  "smlad " sum0 ", r8, lr, " sum0 "\n" \
  "smlad " sum1 ", r10, lr, " sum1 "\n" \
  "smlad " sum0 ", r9, r12, " sum0 "\n" \
  "smlad " sum1 ", r11, r12, " sum1 "\n"

#define THIMBLE_UNPACKED_FOUR \
  "ldr r9, [r0], #4\n" \
  "ldr r11, [r1], #4\n" \
  "sxtb16 r8, r9\n" \
  "sxtb16 r9, r9, ror #8\n" \
  "sxtb16 r10, r11\n" \
  "sxtb16 r11, r11, ror #8\n" \
  THIMBLE_UNPACKED_CHANNEL("r2", "r4", "r5") \
  THIMBLE_UNPACKED_CHANNEL("r3", "r6", "r7")

namespace thimble::kernels::dsp {

static_assert(offsetof(UnpackedBlock, weights) == 8 && offsetof(UnpackedBlock, channels) == 12);
static_assert(offsetof(UnpackedBlock, channels_end) == 16 && offsetof(UnpackedBlock, rows) == 20);
static_assert(offsetof(UnpackedBlock, depth) == 24 && offsetof(UnpackedBlock, zero_point) == 28);
static_assert(sizeof(UnpackedChannel) == 12 && sizeof(UnpackedRow) == 12);

[[gnu::naked]] void multiply_unpacked(UnpackedBlock*) {
  __asm__(
      "push {r4-r11, lr}\n"
      "sub sp, #16\n"
      "str r0, [sp, #12]\n"

      "1:\n"  // two channels
      "ldr r12, [sp, #12]\n"
      "ldr r2, [r12, #8]\n"
      "ldr lr, [r12, #24]\n"
      "ldr r8, [r12, #12]\n"
      "add r3, r2, lr\n"
      "add lr, r3, lr\n"
      "str lr, [r12, #8]\n"
      "ldr r4, [r8]\n"
      "ldr r6, [r8, #12]\n"
      "ldr r9, [r12, #20]\n"
      "mov r5, r4\n"
      "mov r7, r6\n"
      "str r9, [sp]\n"

      "2:\n"  // a row
      "ldr lr, [sp]\n"
      "ldm lr!, {r0, r1, r8}\n"
      "cmp r8, #0\n"
      "beq 6f\n"
      "str lr, [sp]\n"
      "bic r9, r8, #7\n"
      "and r8, r8, #7\n"
      "add r9, r9, r0\n"
      "strd r9, r8, [sp, #4]\n"
      "cmp r0, r9\n"
      "beq 4f\n"
      "3:\n"
      THIMBLE_UNPACKED_FOUR
      THIMBLE_UNPACKED_FOUR
      "ldr r12, [sp, #4]\n"
      "cmp r0, r12\n"
      "bne 3b\n"
      "4:\n"
      "ldr r12, [sp, #8]\n"
      "cmp r12, #0\n"
      "beq 2b\n"
      "subs r12, #4\n"
      "bmi 5f\n"
      "str r12, [sp, #8]\n"
      THIMBLE_UNPACKED_FOUR
      "5:\n"
      "ldr r12, [sp, #8]\n"
      "cmp r12, #0\n"
      "beq 2b\n"
      "7:\n"
      "ldrsb r8, [r0], #1\n"
      "ldrsb r9, [r1], #1\n"
      "ldrsb r10, [r2], #1\n"
      "ldrsb r11, [r3], #1\n"
      "mla r4, r8, r10, r4\n"
      "mla r5, r9, r10, r5\n"
      "mla r6, r8, r11, r6\n"
      "mla r7, r9, r11, r7\n"
      "subs r12, #1\n"
      "bne 7b\n"
      "b 2b\n"

      "6:\n"
      "ldr r12, [sp, #12]\n"
      "ldr r8, [r12, #12]\n"
      "ldr r0, [r12, #28]\n"
      "ldrd r9, r10, [r8, #4]\n"
      "ldrd r11, lr, [r8, #16]\n"
      "add r8, #24\n"
      "lsls r4, r4, #1\n"
      "lsls r5, r5, #1\n"
      "lsls r6, r6, #1\n"
      "lsls r7, r7, #1\n"
      "smmulr r4, r4, r9\n"
      "smmulr r5, r5, r9\n"
      "smmulr r6, r6, r11\n"
      "smmulr r7, r7, r11\n"
      "add r4, r4, r4, asr #31\n"
      "add r5, r5, r5, asr #31\n"
      "add r6, r6, r6, asr #31\n"
      "add r7, r7, r7, asr #31\n"
      "smmlar r4, r4, r10, r0\n"
      "smmlar r5, r5, r10, r0\n"
      "smmlar r6, r6, lr, r0\n"
      "smmlar r7, r7, lr, r0\n"
      "ldrd r1, r2, [r12]\n"
      "ssat r4, #8, r4\n"
      "ssat r5, #8, r5\n"
      "ssat r6, #8, r6\n"
      "ssat r7, #8, r7\n"
      "strb r6, [r1, #1]\n"
      "strb r4, [r1], #2\n"
      "strb r7, [r2, #1]\n"
      "strb r5, [r2], #2\n"
      "strd r1, r2, [r12]\n"
      "ldr r9, [r12, #16]\n"
      "str r8, [r12, #12]\n"
      "cmp r8, r9\n"
      "bne 1b\n"
      "add sp, #16\n"
      "pop {r4-r11, pc}\n");
}

}  // namespace thimble::kernels::dsp
// clang-format on
#endif
