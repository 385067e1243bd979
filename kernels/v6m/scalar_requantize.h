// SPDX-License-Identifier: Apache-2.0
#pragma once
// Requantization of a sum without a long multiplication, as assembly text. With
// acc = ah * 2^15 + l / 2, 0 <= l < 2^16, l even, and mult = mh * 2^16 + ml,
// c = floor((acc * mult + 2^30) / 2^31) equals
//   ah * mh + floor((ah * ml + l * mh + floor(l * ml / 2^16) + 2^15) / 2^16).
// The inner sum is between -2^30 and 2^31 + 2^30 for |acc| < 2^29. It is computed minus 2^30, so
// that it fits a word; 2^14 is added afterwards.

// clang-format off

// r12: 2^15 - 2^30, lr: 2^14; clobbers r1 and r2.
#define THIMBLE_V6M_CONSTANTS \
  "movs r1, #1\n"        \
  "lsls r2, r1, #14\n"   \
  "mov lr, r2\n"         \
  "lsls r2, r1, #15\n"   \
  "lsls r1, r1, #30\n"   \
  "subs r2, r2, r1\n"    \
  "mov r12, r2\n"

// Requantizes acc (any register) to r0; r6 is the channel's record; clobbers r1-r4.
#define THIMBLE_V6M_REQUANTIZE(acc, label) \
  "mov r0, " acc "\n"    \
  THIMBLE_V6M_REQUANTIZE_SUM(label)

// Requantizes the sum in r0.
#define THIMBLE_V6M_REQUANTIZE_SUM(label) \
  "ldrh r3, [r6, #4]\n"  \
  "ldrh r4, [r6, #6]\n"  \
  THIMBLE_V6M_HIGH_PRODUCT("muls r3, r0, r3\n adds r1, r1, r3\n") \
  "ldr r2, [r6, #8]\n"   \
  "ldr r3, [r6, #12]\n"  \
  "add r0, lr\n"         \
  "adds r0, r0, r2\n"    \
  THIMBLE_V6M_SATURATE("r3", label)

// Replaces the sum in r0 by c - 2^14, or c - 1 - 2^14 if the sum is negative; r3 and r4 are the
// halves of the multiplier; clobbers r1 and r2. `add_product` adds r0 * r3 to r1.
#define THIMBLE_V6M_HIGH_PRODUCT(add_product) \
  "lsls r1, r0, #17\n"   \
  "lsrs r1, r1, #16\n"   \
  "asrs r0, r0, #15\n"   \
  "mov r2, r1\n"         \
  "muls r2, r3, r2\n"    \
  "lsrs r2, r2, #16\n"   \
  "muls r1, r4, r1\n"    \
  "adds r1, r1, r2\n"    \
  add_product            \
  "add r1, r12\n"        \
  "asrs r1, r1, #16\n"   \
  "asrs r2, r0, #31\n"   \
  "muls r0, r4, r0\n"    \
  "adds r0, r0, r1\n"    \
  "adds r0, r0, r2\n"

// Shifts r0 and limits it to int8; clobbers r1.
#define THIMBLE_V6M_SATURATE(shift, label) \
  "asrs r0, " shift "\n" \
  "sxtb r1, r0\n"        \
  "cmp r1, r0\n"         \
  "beq " label "f\n"     \
  "asrs r0, r0, #31\n"   \
  "movs r1, #127\n"      \
  "eors r0, r1\n"        \
  label ":\n"

// Requantizes the sum in r0 by constants that several sums share: r3 and r4 halves of the
// multiplier, r5 shift, r7 round + 2^14; clobbers r1 and r2.
#define THIMBLE_V6M_REQUANTIZE_SHARED(label) \
  THIMBLE_V6M_HIGH_PRODUCT("mov r2, r0\n muls r2, r3, r2\n adds r1, r1, r2\n") \
  "adds r0, r0, r7\n"    \
  THIMBLE_V6M_SATURATE("r5", label)

#define THIMBLE_V6M_ENTER \
  ".syntax unified\n"    \
  "push {r4-r7, lr}\n"   \
  "mov r4, r8\n"         \
  "mov r5, r9\n"         \
  "mov r6, r10\n"        \
  "mov r7, r11\n"        \
  "push {r0, r4-r7}\n"   \
  THIMBLE_V6M_CONSTANTS

#define THIMBLE_V6M_LEAVE \
  "pop {r0, r4-r7}\n"    \
  "mov r8, r4\n"         \
  "mov r9, r5\n"         \
  "mov r10, r6\n"        \
  "mov r11, r7\n"        \
  "pop {r4-r7, pc}\n"

// clang-format on
