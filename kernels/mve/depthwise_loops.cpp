// SPDX-License-Identifier: Apache-2.0
// A vector of bytes b0..b15 gives two vectors of 16-bit products (bottom: even bytes, top: odd
// bytes) and four vectors of 32-bit sums. One instruction adds the signed top half of each 32-bit
// lane to the sums: vqdmlah by 2^15 adds floor(lane / 2^16). One instruction prepares rounding of
// halves away from zero: vqdmlah of a number with itself and 1 subtracts 1 from a negative number.
//
// The loops are tail-predicated: lanes beyond the channels are neither read nor written.

#include "kernels/mve/depthwise_loops.h"

#include "kernels/isa.h"
#include "kernels/mve/depthwise_nine.h"

#if THIMBLE_HAS_MVE

#include <cstddef>

namespace thimble::kernels {

static_assert(offsetof(DepthwiseRun, y) == 36 && offsetof(DepthwiseRun, blocks) == 40);
static_assert(offsetof(DepthwiseRun, lanes) == 44 && offsetof(DepthwiseRun, y_step) == 48);
static_assert(offsetof(DepthwiseRun, x_moves) == 52 && offsetof(DepthwiseRun, x_step) == 56);
static_assert(offsetof(DepthwiseRun, pixels) == 68 && offsetof(DepthwiseRun, y_zero_point) == 72);
static_assert(offsetof(DepthwiseRun, min) == 76 && offsetof(DepthwiseRun, offsets) == 84);
static_assert(offsetof(DepthwiseRun, half) == 100);
static_assert(offsetof(DepthwiseRun, segments) == 92 && sizeof(DepthwiseSegment) == 40);

// Stack offsets: 0 zero point of y, 16 min, 32 max, 48 blocks, 52 lanes, 56 y_step, 60 x_moves, 64
// x_step, 76 pixels, 80 the run, 84 the next segment, 88 remaining segments.
#define THIMBLE_DEPTHWISE_ENTER         \
  "push {r3-r11, lr}                \n" \
  "vpush {d8-d15}                   \n" \
  "sub sp, #96                      \n" \
  "ldrd r1, r2, [r0, #72]           \n" \
  "ldr r3, [r0, #80]                \n" \
  "vdup.16 q0, r1                   \n" \
  "vdup.8 q1, r2                    \n" \
  "vdup.8 q2, r3                    \n" \
  "vstrw.32 q0, [sp]                \n" \
  "vstrw.32 q1, [sp, #16]           \n" \
  "vstrw.32 q2, [sp, #32]           \n" \
  "add r1, r0, #36                  \n" \
  "ldm r1, {r1-r9}                  \n" \
  "mov r10, r1                      \n" \
  "add r11, sp, #52                 \n" \
  "stm r11, {r3-r9}                 \n" \
  "str r0, [sp, #80]                \n"

#define THIMBLE_DEPTHWISE_LEAVE         \
  "add sp, #96                      \n" \
  "vpop {d8-d15}                    \n" \
  "pop {r3-r11, pc}                 \n"

// Requantizes sums without zero point: multiplier, rounding of halves away from zero, shift.
#define THIMBLE_DEPTHWISE_SCALE(sums, mult, shift, away)                            \
  "vldrw.u32 q0, [r7, " mult                                                        \
  "           \n"                                                                   \
  "vqrdmulh.s32 " sums ", " sums ", q0   \n" away(sums) "vldrb.s32 q1, [r7, " shift \
                                                        "          \n"              \
                                                        "vrshl.s32 " sums ", " sums ", q1      \n"

#define THIMBLE_DEPTHWISE_AWAY_R12(sums) "vqdmlah.s32 " sums ", " sums ", r12 \n"
#define THIMBLE_DEPTHWISE_AWAY_R9(sums) "vqdmlah.s32 " sums ", " sums ", r9 \n"
// If all negative values are clamped to -128, their rounding has no effect.
#define THIMBLE_DEPTHWISE_UP(sums)

#define THIMBLE_DEPTHWISE_NARROW   \
  "vqmovnb.s32 q0, q4          \n" \
  "vqmovnt.s32 q0, q5          \n" \
  "vqmovnb.s32 q1, q6          \n" \
  "vqmovnt.s32 q1, q7          \n" \
  "vldrw.u32 q2, [sp]          \n" \
  "vqadd.s16 q0, q0, q2        \n" \
  "vqadd.s16 q1, q1, q2        \n" \
  "vqmovnb.s16 q4, q0          \n" \
  "vqmovnt.s16 q4, q1          \n"

#define THIMBLE_DEPTHWISE_CLAMP    \
  "vldrw.u32 q2, [sp, #16]     \n" \
  "vldrw.u32 q3, [sp, #32]     \n" \
  "vmax.s8 q4, q4, q2          \n" \
  "vmin.s8 q4, q4, q3          \n"

#define THIMBLE_DEPTHWISE_STORE "vstrb.8 q4, [r10], #16 \n"

// Adds 16-bit sums b (even lanes of the block) and t (odd lanes) to the 32-bit sums q4..q7.
#define THIMBLE_DEPTHWISE_WIDEN(b, t, half) \
  "vqdmlah.s32 q5, " b ", " half            \
  "      \n"                                \
  "vmovlb.s16 " b ", " b                    \
  "              \n"                        \
  "vadd.i32 q4, q4, " b                     \
  "               \n"                       \
  "vqdmlah.s32 q7, " t ", " half            \
  "      \n"                                \
  "vmovlb.s16 " t ", " t                    \
  "              \n"                        \
  "vadd.i32 q6, q6, " t "               \n"

// Half a block loads activations as 16-bit lanes and computes 16-bit products. q4 holds the sums of
// its even lanes, q5 those of the odd lanes. r7: the fifth weights of the block; lr: the run.
// Widening loads accept only low base registers.
#define THIMBLE_DEPTHWISE_HALF_PAIR(w, next_w) \
  "vmul.i16 q0, q0, " w                        \
  "                 \n"                        \
  "vmul.i16 q1, q1, " next_w                   \
  "            \n"                             \
  "vadd.i16 q0, q0, q1                    \n" THIMBLE_DEPTHWISE_HALF_WIDEN

#define THIMBLE_DEPTHWISE_HALF_WIDEN \
  "vqdmlah.s32 q5, q0, r11      \n"  \
  "vmovlb.s16 q0, q0            \n"  \
  "vadd.i32 q4, q4, q0          \n"

#define THIMBLE_DEPTHWISE_HALF_LOADS(x, w, next_x, next_w) \
  "vldrb.s16 q0, [" x                                      \
  "], #8                          \n"                      \
  "vldrb.s16 q2, [r7, " w                                  \
  "]                          \n"                          \
  "vldrb.s16 q1, [" next_x                                 \
  "], #8                     \n"                           \
  "vldrb.s16 q3, [r7, " next_w "]                     \n" THIMBLE_DEPTHWISE_HALF_PAIR("q2", "q3")

#define THIMBLE_DEPTHWISE_HALF_SCALE(sums, mult, shift, away)                     \
  "vldrw.u32 q0, [lr, " mult                                                      \
  "]        \n"                                                                   \
  "vqrdmulh.s32 " sums ", " sums ", q0 \n" away(sums) "vldrw.u32 q1, [lr, " shift \
                                                      "]       \n"                \
                                                      "vrshl.s32 " sums ", " sums ", q1    \n"

#define THIMBLE_DEPTHWISE_HALF(away, clamp) \
  "adds r7, #144                    \n"                       \
  "ldr lr, [sp, #80]                \n"                       \
  "vldrw.u32 q4, [lr, #100]         \n"                       \
  "vldrw.u32 q5, [lr, #116]         \n"                       \
  THIMBLE_DEPTHWISE_HALF_LOADS("r0", "#-64", "r1", "#-48")    \
  THIMBLE_DEPTHWISE_HALF_LOADS("r2", "#-32", "r3", "#-16")    \
  THIMBLE_DEPTHWISE_HALF_LOADS("r4", "#0", "r5", "#16")       \
  "vldrb.s16 q0, [r6], #8           \n"                       \
  "vldrb.s16 q2, [r7, #32]          \n"                       \
  "vldrb.s16 q3, [r7, #48]          \n"                       \
  "vldrb.s16 q6, [r7, #64]          \n"                       \
  "mov r7, r8                       \n"                       \
  "vldrb.s16 q1, [r7]               \n"                       \
  THIMBLE_DEPTHWISE_HALF_PAIR("q2", "q3")                     \
  "mov r7, r9                       \n"                       \
  "vldrb.s16 q0, [r7]               \n"                       \
  "vmul.i16 q0, q0, q6              \n"                       \
  THIMBLE_DEPTHWISE_HALF_WIDEN                                \
  "add r8, #8                       \n"                       \
  "add r9, #8                       \n"                       \
  THIMBLE_DEPTHWISE_HALF_SCALE("q4", "#132", "#164", away)          \
  THIMBLE_DEPTHWISE_HALF_SCALE("q5", "#148", "#180", away)          \
  "vqmovnb.s32 q0, q4               \n"                       \
  "vqmovnt.s32 q0, q5               \n"                       \
  "vldrw.u32 q2, [sp]               \n"                       \
  "vqadd.s16 q0, q0, q2             \n"                       \
  "vqmovnb.s16 q4, q0               \n"                       \
  clamp                                     \
  "mov r7, r10                      \n"                       \
  "vstrb.16 q4, [r7]                \n"                       \
  "add r10, #8                      \n"

// r0-r6, r8, r9: x of the taps; r7: block - 16 bytes; r10: y; r11, r12: 2^15, 1.
#define THIMBLE_DEPTHWISE_NINE(block, half)                                              \
  THIMBLE_DEPTHWISE_ENTER                                                                \
  "subs r2, #16                     \n"                                                  \
  "str r2, [sp, #48]                \n"                                                  \
  "mov r11, #32768                  \n"                                                  \
  "mov r12, #1                      \n"                                                  \
  "ldrd r7, lr, [r0, #92]           \n"                                                  \
  "0:                               \n"                                                  \
  "ldr r8, [r7], #4                 \n"                                                  \
  "str r8, [sp, #76]                \n"                                                  \
  "ldm r7!, {r0-r6}                 \n"                                                  \
  "ldrd r8, r9, [r7], #8            \n"                                                  \
  "strd r7, lr, [sp, #84]           \n"                                                  \
  "1:                               \n"                                                  \
  "ldr r7, [sp, #52]                \n"                                                  \
  "dlstp.8 lr, r7                   \n"                                                  \
  "ldr r7, [sp, #48]                \n"                                                  \
  "2:                               \n" block "letp lr, 2b                      \n" half \
  "ldrd lr, r7, [sp, #56]           \n"                                                  \
  "add r10, lr                      \n"                                                  \
  "cbz r7, 3f                       \n"                                                  \
  "ldr r7, [sp, #64]                \n"                                                  \
  "add r0, r7                       \n"                                                  \
  "add r1, r7                       \n"                                                  \
  "add r2, r7                       \n"                                                  \
  "ldrd r7, lr, [sp, #68]           \n"                                                  \
  "add r3, r7                       \n"                                                  \
  "add r4, r7                       \n"                                                  \
  "add r5, r7                       \n"                                                  \
  "add r6, lr                       \n"                                                  \
  "add r8, lr                       \n"                                                  \
  "add r9, lr                       \n"                                                  \
  "3:                               \n"                                                  \
  "ldr r7, [sp, #76]                \n"                                                  \
  "subs r7, #1                      \n"                                                  \
  "str r7, [sp, #76]                \n"                                                  \
  "bne.w 1b                         \n"                                                  \
  "ldrd r7, lr, [sp, #84]           \n"                                                  \
  "subs lr, #1                      \n"                                                  \
  "bne.w 0b                         \n"                                                  \
  "ldr r7, [sp, #80]                \n"                                                  \
  "strd r8, r9, [r7, #28]           \n"                                                  \
  "str r10, [r7, #36]               \n"                                                  \
  "stm r7, {r0-r6}                  \n" THIMBLE_DEPTHWISE_LEAVE

extern "C" __attribute__((naked)) void thimble_mve_depthwise_nine(DepthwiseRun*) {
  __asm__ volatile(THIMBLE_DEPTHWISE_NINE(THIMBLE_DEPTHWISE_NINE_BLOCK, ""));
}

extern "C" __attribute__((naked)) void thimble_mve_depthwise_nine_relu(DepthwiseRun*) {
  __asm__ volatile(THIMBLE_DEPTHWISE_NINE(THIMBLE_DEPTHWISE_NINE_RELU_BLOCK, ""));
}

extern "C" __attribute__((naked)) void thimble_mve_depthwise_nine_half(DepthwiseRun*) {
  __asm__ volatile(THIMBLE_DEPTHWISE_NINE(
      THIMBLE_DEPTHWISE_NINE_BLOCK,
      THIMBLE_DEPTHWISE_HALF(THIMBLE_DEPTHWISE_AWAY_R12, THIMBLE_DEPTHWISE_CLAMP)));
}

extern "C" __attribute__((naked)) void thimble_mve_depthwise_nine_half_relu(DepthwiseRun*) {
  __asm__ volatile(THIMBLE_DEPTHWISE_NINE(THIMBLE_DEPTHWISE_NINE_RELU_BLOCK,
                                          THIMBLE_DEPTHWISE_HALF(THIMBLE_DEPTHWISE_UP, "")));
}

// r0: x; r1, r2: x of two taps; r3, r4: current offsets, remaining pairs; r5, r6: initial values of
// r3 and r4; r7: the block; r8, r9: 2^15, 1; r10: y; r11: remaining pixels.
extern "C" __attribute__((naked)) void thimble_mve_depthwise_any(DepthwiseRun*) {
  __asm__ volatile(
      THIMBLE_DEPTHWISE_ENTER
      "str r2, [sp, #48]                \n"
      "mov r11, r9                      \n"
      "mov r8, #32768                   \n"
      "mov r9, #1                       \n"
      "ldrd r5, r6, [r0, #84]           \n"
      "ldr r0, [r0]                     \n"
      "1:                               \n"
      "ldrd r7, r1, [sp, #48]           \n"
      "dlstp.8 lr, r1                   \n"
      "2:                               \n"
      "vldrw.u32 q4, [r7], #16          \n"
      "vldrw.u32 q5, [r7], #16          \n"
      "vldrw.u32 q6, [r7], #16          \n"
      "vldrw.u32 q7, [r7], #16          \n"
      "mov r3, r5                       \n"
      "mov r4, r6                       \n"
      "3:                               \n"
      "ldrd r1, r2, [r3], #8            \n"
      "add r1, r0                       \n"
      "add r2, r0                       \n"
      "vldrb.u8 q0, [r1]                \n"
      "vldrw.u32 q1, [r7], #16          \n"
      "vmullb.s8 q2, q0, q1             \n"
      "vmullt.s8 q3, q0, q1             \n"
      "vldrb.u8 q0, [r2]                \n"
      "vldrw.u32 q1, [r7], #16          \n"
      "vmullt.s8 q1, q0, q1             \n"
      "vadd.i16 q3, q3, q1              \n"
      "vldrw.u32 q1, [r7, #-16]         \n"
      "vmullb.s8 q0, q0, q1             \n"
      "vadd.i16 q2, q2, q0              \n"
      THIMBLE_DEPTHWISE_WIDEN("q2", "q3", "r8")
      "subs r4, #1                      \n"
      "bne 3b                           \n"
      "adds r0, #16                     \n"
      THIMBLE_DEPTHWISE_SCALE("q4", "#16]", "#0]", THIMBLE_DEPTHWISE_AWAY_R9)
      THIMBLE_DEPTHWISE_SCALE("q5", "#32]", "#4]", THIMBLE_DEPTHWISE_AWAY_R9)
      THIMBLE_DEPTHWISE_SCALE("q6", "#48]", "#8]", THIMBLE_DEPTHWISE_AWAY_R9)
      THIMBLE_DEPTHWISE_SCALE("q7", "#64]", "#12]", THIMBLE_DEPTHWISE_AWAY_R9)
      "adds r7, #80                     \n"
      THIMBLE_DEPTHWISE_NARROW
      THIMBLE_DEPTHWISE_CLAMP
      THIMBLE_DEPTHWISE_STORE
      "letp lr, 2b                      \n"
      "ldr r1, [sp, #56]                \n"
      "ldr r2, [sp, #64]                \n"
      "add r10, r1                      \n"
      "add r0, r2                       \n"
      "subs r11, #1                     \n"
      "bne.w 1b                         \n"
      "ldr r7, [sp, #80]                \n"
      "str r0, [r7]                     \n"
      "str r10, [r7, #36]               \n"
      THIMBLE_DEPTHWISE_LEAVE);
}

}  // namespace thimble::kernels

#endif
