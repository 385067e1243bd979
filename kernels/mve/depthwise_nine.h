// SPDX-License-Identifier: Apache-2.0
#pragma once
// One block of 16 channels of nine taps (depthwise_loops.cpp describes the arithmetic): products,
// sums, requantization. The instructions are in the order, and in the registers, in which the model
// of src/cycles needs the fewest cycles: 115 with only an upper bound that saturation provides
// (RELU), 124 with both bounds; 157 and 171 in the order of the arithmetic. A load and an
// operation of another unit overlap; each vector instruction takes an issue slot, so that a block
// cannot take fewer cycles than it has instructions: 106 and 114.
//
// r0-r6, r8, r9: x of the taps; r7: block - 16 bytes; r10: y; r11, r12: 2^15, 1. Stack: zero point
// of y, min, max, as vectors.

// clang-format off
#define THIMBLE_DEPTHWISE_NINE_RELU_BLOCK \
  "vldrw.u32 q0, [r7, #80]\n"   \
  "vldrb.u8 q1, [r0], #16\n"    \
  "vmullt.s8 q2, q1, q0\n"      \
  "vldrw.u32 q3, [r7, #96]\n"   \
  "vmullb.s8 q4, q1, q0\n"      \
  "vldrb.u8 q5, [r1], #16\n"    \
  "vmullb.s8 q6, q5, q3\n"      \
  "vldrb.u8 q7, [r3], #16\n"    \
  "vmullt.s8 q0, q5, q3\n"      \
  "vldrw.u32 q1, [r7, #128]\n"  \
  "vmullt.s8 q3, q7, q1\n"      \
  "vldrb.u8 q5, [r2], #16\n"    \
  "vmullb.s8 q1, q7, q1\n"      \
  "vadd.i16 q7, q4, q6\n"       \
  "vldrw.u32 q4, [r7, #112]\n"  \
  "vmullt.s8 q6, q5, q4\n"      \
  "vadd.i16 q0, q2, q0\n"       \
  "vmullb.s8 q2, q5, q4\n"      \
  "vadd.i16 q4, q6, q3\n"       \
  "vldrw.u32 q5, [r7, #64]\n"   \
  "vadd.i16 q3, q2, q1\n"       \
  "vqdmlah.s32 q5, q0, r11\n"   \
  "vmovlb.s16 q6, q7\n"         \
  "vldrw.u32 q1, [r7, #16]\n"   \
  "vadd.i32 q2, q1, q6\n"       \
  "vldrw.u32 q1, [r7, #48]\n"   \
  "vmovlb.s16 q6, q0\n"         \
  "vqdmlah.s32 q5, q4, r11\n"   \
  "vadd.i32 q0, q1, q6\n"       \
  "vldrw.u32 q1, [r7, #32]\n"   \
  "vmovlb.s16 q6, q4\n"         \
  "vldrw.u32 q4, [r7, #144]!\n" \
  "vqdmlah.s32 q1, q7, r11\n"   \
  "vadd.i32 q7, q0, q6\n"       \
  "vqdmlah.s32 q1, q3, r11\n"   \
  "vmovlb.s16 q0, q3\n"         \
  "vldrb.u8 q6, [r4], #16\n"    \
  "vadd.i32 q3, q2, q0\n"       \
  "vmullt.s8 q0, q6, q4\n"      \
  "vldrw.u32 q2, [r7, #16]\n"   \
  "vmullb.s8 q4, q6, q4\n"      \
  "vldrb.u8 q6, [r5], #16\n"    \
  "vmullt.s8 q2, q6, q2\n"      \
  "vadd.i16 q0, q0, q2\n"       \
  "vldrw.u32 q2, [r7, #16]\n"   \
  "vmullb.s8 q2, q6, q2\n"      \
  "vmovlb.s16 q6, q0\n"         \
  "vqdmlah.s32 q5, q0, r11\n"   \
  "vldrw.u32 q0, [r7, #32]\n"   \
  "vadd.i16 q2, q4, q2\n"       \
  "vldrb.u8 q4, [r6], #16\n"    \
  "vadd.i32 q6, q7, q6\n"       \
  "vqdmlah.s32 q1, q2, r11\n"   \
  "vmovlb.s16 q7, q2\n"         \
  "vmullt.s8 q2, q4, q0\n"      \
  "vadd.i32 q3, q3, q7\n"       \
  "vldrb.u8 q7, [r8], #16\n"    \
  "vmullb.s8 q0, q4, q0\n"      \
  "vldrw.u32 q4, [r7, #48]\n"   \
  "vmullt.s8 q4, q7, q4\n"      \
  "vadd.i16 q2, q2, q4\n"       \
  "vldrw.u32 q4, [r7, #48]\n"   \
  "vmullb.s8 q4, q7, q4\n"      \
  "vmovlb.s16 q7, q2\n"         \
  "vqdmlah.s32 q5, q2, r11\n"   \
  "vadd.i32 q2, q6, q7\n"       \
  "vldrw.u32 q6, [r7, #64]\n"   \
  "vadd.i16 q7, q0, q4\n"       \
  "vldrb.u8 q0, [r9], #16\n"    \
  "vqdmlah.s32 q1, q7, r11\n"   \
  "vmovlb.s16 q4, q7\n"         \
  "vmullb.s8 q7, q0, q6\n"      \
  "vadd.i32 q3, q3, q4\n"       \
  "vmullt.s8 q4, q0, q6\n"      \
  "vmovlb.s16 q0, q7\n"         \
  "vqdmlah.s32 q1, q7, r11\n"   \
  "vadd.i32 q6, q3, q0\n"       \
  "vldrb.s32 q7, [r7, #88]\n"   \
  "vmovlb.s16 q0, q4\n"         \
  "vldrw.u32 q3, [r7, #96]\n"   \
  "vadd.i32 q0, q2, q0\n"       \
  "vqrdmulh.s32 q2, q6, q3\n"   \
  "vldrb.s32 q3, [r7, #80]\n"   \
  "vrshl.s32 q6, q2, q3\n"      \
  "vldrw.u32 q2, [r7, #128]\n"  \
  "vqmovnb.s32 q3, q6\n"        \
  "vqrdmulh.s32 q6, q0, q2\n"   \
  "vldrw.u32 q0, [r7, #144]!\n" \
  "vrshl.s32 q2, q6, q7\n"      \
  "vldrw.u32 q6, [r7, #-32]\n"  \
  "vqmovnb.s32 q7, q2\n"        \
  "vqrdmulh.s32 q2, q1, q6\n"   \
  "vldrb.s32 q1, [r7, #-60]\n"  \
  "vrshl.s32 q6, q2, q1\n"      \
  "vqdmlah.s32 q5, q4, r11\n"   \
  "vqmovnt.s32 q3, q6\n"        \
  "vqrdmulh.s32 q1, q5, q0\n"   \
  "vldrb.s32 q2, [r7, #-52]\n"  \
  "vrshl.s32 q4, q1, q2\n"      \
  "vldrw.u32 q6, [sp]\n"        \
  "vqadd.s16 q0, q3, q6\n"      \
  "vqmovnt.s32 q7, q4\n"        \
  "vqmovnb.s16 q5, q0\n"        \
  "vqadd.s16 q1, q7, q6\n"      \
  "vqmovnt.s16 q5, q1\n"        \
  "vstrb.8 q5, [r10], #16\n"

#define THIMBLE_DEPTHWISE_NINE_BLOCK \
  "vldrb.u8 q0, [r1], #16\n"    \
  "vldrw.u32 q1, [r7, #96]\n"   \
  "vmullb.s8 q2, q0, q1\n"      \
  "vldrw.u32 q3, [r7, #80]\n"   \
  "vmullt.s8 q4, q0, q1\n"      \
  "vldrb.u8 q5, [r0], #16\n"    \
  "vmullt.s8 q6, q5, q3\n"      \
  "vldrw.u32 q7, [r7, #112]\n"  \
  "vmullb.s8 q0, q5, q3\n"      \
  "vadd.i16 q1, q6, q4\n"       \
  "vldrb.u8 q3, [r2], #16\n"    \
  "vmullb.s8 q5, q3, q7\n"      \
  "vldrw.u32 q4, [r7, #128]\n"  \
  "vadd.i16 q6, q0, q2\n"       \
  "vmullt.s8 q0, q3, q7\n"      \
  "vldrb.u8 q2, [r3], #16\n"    \
  "vmullt.s8 q3, q2, q4\n"      \
  "vldrw.u32 q7, [r7, #32]\n"   \
  "vmullb.s8 q2, q2, q4\n"      \
  "vldrw.u32 q4, [r7, #16]\n"   \
  "vadd.i16 q0, q0, q3\n"       \
  "vldrw.u32 q3, [r7, #64]\n"   \
  "vadd.i16 q2, q5, q2\n"       \
  "vqdmlah.s32 q7, q6, r11\n"   \
  "vmovlb.s16 q5, q6\n"         \
  "vqdmlah.s32 q7, q2, r11\n"   \
  "vmovlb.s16 q6, q2\n"         \
  "vqdmlah.s32 q3, q1, r11\n"   \
  "vmovlb.s16 q2, q0\n"         \
  "vqdmlah.s32 q3, q0, r11\n"   \
  "vadd.i32 q0, q4, q5\n"       \
  "vldrb.u8 q4, [r4], #16\n"    \
  "vadd.i32 q5, q0, q6\n"       \
  "vldrw.u32 q0, [r7, #48]\n"   \
  "vmovlb.s16 q6, q1\n"         \
  "vldrw.u32 q1, [r7, #144]!\n" \
  "vadd.i32 q0, q0, q6\n"       \
  "vmullb.s8 q6, q4, q1\n"      \
  "vadd.i32 q0, q0, q2\n"       \
  "vldrb.u8 q2, [r5], #16\n"    \
  "vmullt.s8 q1, q4, q1\n"      \
  "vldrw.u32 q4, [r7, #16]\n"   \
  "vmullt.s8 q4, q2, q4\n"      \
  "vadd.i16 q1, q1, q4\n"       \
  "vldrw.u32 q4, [r7, #16]\n"   \
  "vmullb.s8 q2, q2, q4\n"      \
  "vldrw.u32 q4, [r7, #32]\n"   \
  "vadd.i16 q2, q6, q2\n"       \
  "vqdmlah.s32 q3, q1, r11\n"   \
  "vmovlb.s16 q6, q1\n"         \
  "vqdmlah.s32 q7, q2, r11\n"   \
  "vldrb.u8 q1, [r6], #16\n"    \
  "vadd.i32 q0, q0, q6\n"       \
  "vmullt.s8 q6, q1, q4\n"      \
  "vmovlb.s16 q2, q2\n"         \
  "vmullb.s8 q1, q1, q4\n"      \
  "vldrb.u8 q4, [r8], #16\n"    \
  "vadd.i32 q2, q5, q2\n"       \
  "vldrw.u32 q5, [r7, #48]\n"   \
  "vmullt.s8 q5, q4, q5\n"      \
  "vadd.i16 q5, q6, q5\n"       \
  "vldrw.u32 q6, [r7, #48]\n"   \
  "vmullb.s8 q4, q4, q6\n"      \
  "vldrw.u32 q6, [r7, #64]\n"   \
  "vadd.i16 q1, q1, q4\n"       \
  "vqdmlah.s32 q3, q5, r11\n"   \
  "vmovlb.s16 q4, q5\n"         \
  "vqdmlah.s32 q7, q1, r11\n"   \
  "vldrb.u8 q5, [r9], #16\n"    \
  "vadd.i32 q0, q0, q4\n"       \
  "vmullt.s8 q4, q5, q6\n"      \
  "vmovlb.s16 q1, q1\n"         \
  "vmullb.s8 q5, q5, q6\n"      \
  "vldrw.u32 q6, [r7, #112]\n"  \
  "vadd.i32 q1, q2, q1\n"       \
  "vqdmlah.s32 q7, q5, r11\n"   \
  "vldrw.u32 q2, [r7, #96]\n"   \
  "vmovlb.s16 q5, q5\n"         \
  "vqrdmulh.s32 q6, q7, q6\n"   \
  "vadd.i32 q7, q1, q5\n"       \
  "vldrb.s32 q1, [r7, #80]\n"   \
  "vqdmlah.s32 q3, q4, r11\n"   \
  "vldrw.u32 q5, [r7, #128]\n"  \
  "vmovlb.s16 q4, q4\n"         \
  "vqrdmulh.s32 q2, q7, q2\n"   \
  "vldrw.u32 q7, [r7, #144]!\n" \
  "vqdmlah.s32 q2, q2, r12\n"   \
  "vadd.i32 q0, q0, q4\n"       \
  "vqrdmulh.s32 q4, q3, q7\n"   \
  "vldrb.s32 q3, [r7, #-60]\n"  \
  "vrshl.s32 q7, q2, q1\n"      \
  "vldrb.s32 q1, [r7, #-56]\n"  \
  "vqdmlah.s32 q6, q6, r12\n"   \
  "vqmovnb.s32 q2, q7\n"        \
  "vqrdmulh.s32 q7, q0, q5\n"   \
  "vrshl.s32 q0, q6, q3\n"      \
  "vqdmlah.s32 q7, q7, r12\n"   \
  "vqmovnt.s32 q2, q0\n"        \
  "vqdmlah.s32 q4, q4, r12\n"   \
  "vrshl.s32 q5, q7, q1\n"      \
  "vldrb.s32 q3, [r7, #-52]\n"  \
  "vqmovnb.s32 q6, q5\n"        \
  "vrshl.s32 q0, q4, q3\n"      \
  "vldrw.u32 q1, [sp]\n"        \
  "vqadd.s16 q7, q2, q1\n"      \
  "vldrw.u32 q5, [sp, #16]\n"   \
  "vqmovnt.s32 q6, q0\n"        \
  "vqmovnb.s16 q3, q7\n"        \
  "vqadd.s16 q4, q6, q1\n"      \
  "vqmovnt.s16 q3, q4\n"        \
  "vldrw.u32 q2, [sp, #32]\n"   \
  "vmax.s8 q0, q3, q5\n"        \
  "vmin.s8 q7, q0, q2\n"        \
  "vstrb.8 q7, [r10], #16\n"
// clang-format on
