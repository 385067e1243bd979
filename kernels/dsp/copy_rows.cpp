// SPDX-License-Identifier: Apache-2.0
// Copies the rows of a window to contiguous memory (conv_blocks.h).

#include "kernels/isa.h"

#if THIMBLE_HAS_DSP

#include "kernels/dsp/conv_blocks.h"

// Copies words; the last word may overlap the previous one. r4: step, r5: remaining bytes without
// the last word, r12: source.
__asm__(R"(
  .pushsection .text.thimble_dsp_copy_rows, "ax", %progbits
  .syntax unified
  .thumb
  .p2align 2
  .global thimble_dsp_copy_rows
  .type thimble_dsp_copy_rows, %function
  .thumb_func
thimble_dsp_copy_rows:
  push {r4-r6, lr}
  ldr r4, [sp, #16]
  subs r2, r2, #4
  blt 4f
1:
  mov r12, r0
  movs r5, r2
  beq 3f
2:
  ldr r6, [r12], #4
  subs r5, r5, #4
  str r6, [r1], #4
  bgt 2b
3:
  ldr r6, [r12, r5]
  str r6, [r1, r5]
  adds r1, r1, r5
  adds r1, r1, #4
  adds r0, r0, r4
  subs r3, r3, #1
  bne 1b
  pop {r4-r6, pc}
4:
  mov r12, r0
  adds r5, r2, #4
5:
  ldrb r6, [r12], #1
  subs r5, r5, #1
  strb r6, [r1], #1
  bne 5b
  adds r0, r0, r4
  subs r3, r3, #1
  bne 4b
  pop {r4-r6, pc}
  .size thimble_dsp_copy_rows, . - thimble_dsp_copy_rows
  .popsection
)");

#endif  // THIMBLE_HAS_DSP
