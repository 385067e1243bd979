// SPDX-License-Identifier: Apache-2.0
#pragma once
// The loop of three rows of x by two rows of weights, of which all are contiguous: 96 products per
// step, in 11 instructions and the end of the loop.
//
//   r0 r2 r4   sums of the weights at r9     r6 r8 r10  of those at r7
//   r1 r3 r5   rows of x                     lr         bytes of a row
//
// clang-format off

#define THIMBLE_CLEAR_PAIR_SUMS \
  "movs r0, #0\n" \
  "mov r2, r0\n" \
  "mov r4, r0\n" \
  "mov r6, r0\n" \
  "mov r8, r0\n" \
  "mov r10, r0\n"

// Uses the labels 1 and `end`, which it branches to if there are no bytes and does not define.
#define THIMBLE_PAIR_LOOP(end) \
  "wlstp.8 lr, lr, " end "f\n" \
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
  "letp lr, 1b\n"

// clang-format on
