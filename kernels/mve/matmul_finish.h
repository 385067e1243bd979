// SPDX-License-Identifier: Apache-2.0
#pragma once
// The end of the loops that compute four channels of three pixels: moves the sums to vectors,
// requantizes them and stores the results. Included only by files with such loops.
//
//   r0 r2 r4   sums of the first channel of a pair     r6 r8 r10  of the second
//   q3 q4 q5   four sums of each pixel     q6 q7 bounds

// clang-format off
// The sums of a pair of channels, as lanes of the three pixels.
#define THIMBLE_SUMS(high, low) \
  "vmov q3[" high "], q3[" low "], r0, r6\n" \
  "vmov q4[" high "], q4[" low "], r2, r8\n" \
  "vmov q5[" high "], q5[" low "], r4, r10\n"

// Moves the sums of the second pair to lanes 3 and 1, requantizes and stores, in the order in which
// the model of src/cycles needs the fewest cycles. `list`: register with the address of three y, of
// the zero point of y (r3), of negative_rounding_correction (r4, mve/requant.h) and of quads_end
// (r5). Sets the flags for r7 == r5.
#define THIMBLE_FINISH(list) \
  "vmov q3[3], q3[1], r0, r6\n" \
  "vmov q4[3], q4[1], r2, r8\n" \
  "vldrw.32 q0, [r7]\n" \
  "vmov q5[3], q5[1], r4, r10\n" \
  "ldm " list ", {r0, r1, r2, r3, r4, r5}\n" \
  "vadd.i32 q5, q5, q0\n" \
  "vldrw.32 q1, [r7, #16]\n" \
  "vadd.i32 q3, q3, q0\n" \
  "vqrdmulh.s32 q5, q5, q1\n" \
  "vadd.i32 q4, q4, q0\n" \
  "vqdmlah.s32 q5, q5, r4\n" \
  "vldrb.s32 q2, [r7, #32]\n" \
  "vrshl.s32 q5, q5, q2\n" \
  "vqrdmulh.s32 q4, q4, q1\n" \
  "vadd.i32 q5, q5, r3\n" \
  "vqrdmulh.s32 q3, q3, q1\n" \
  "vmax.s32 q5, q5, q6\n" \
  "vqdmlah.s32 q3, q3, r4\n" \
  "vmin.s32 q5, q5, q7\n" \
  "vqdmlah.s32 q4, q4, r4\n" \
  "vrshl.s32 q3, q3, q2\n" \
  "vrshl.s32 q4, q4, q2\n" \
  "adds r7, #36\n" \
  "vadd.i32 q4, q4, r3\n" \
  "vstrb.32 q5, [r2], #4\n" \
  "vadd.i32 q3, q3, r3\n" \
  "cmp r7, r5\n" \
  "vmax.s32 q3, q3, q6\n" \
  "vmin.s32 q3, q3, q7\n" \
  "vstrb.32 q3, [r0], #4\n" \
  "vmax.s32 q4, q4, q6\n" \
  "vmin.s32 q4, q4, q7\n" \
  "vstrb.32 q4, [r1], #4\n" \
  "stm " list ", {r0, r1, r2}\n"
// clang-format on
