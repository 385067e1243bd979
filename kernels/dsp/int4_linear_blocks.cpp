// SPDX-License-Identifier: Apache-2.0
// Inner loops of linear layers with weights of 4 bits (int4_blocks.h). conv_blocks.cpp describes
// the requantization. 16 products take 22 cycles, 20 with weights of 8 bits.

#include "kernels/isa.h"

#if THIMBLE_HAS_DSP

#include <cstddef>

#include "kernels/dsp/int4_blocks.h"
#include "kernels/dsp/shared_assembly.h"

static_assert(offsetof(thimble::kernels::dsp::LinearRow, skip) == 20);
static_assert(sizeof(thimble::kernels::dsp::LinearRow) == 24);

// r0: x, r1: weights, r2, r4: sums of a and c, r3, r5: sums of bytes, r6-r9: weights, r10, r11:
// activations, r12: x_end. The stack holds the fields of Int4LinearRow; `skip` is replaced by the
// address at which the loop is entered.
__asm__(R"(
  .pushsection .text.thimble_dsp_int4_row, "ax", %progbits
  .syntax unified
  .thumb
  .p2align 2
  .global thimble_dsp_int4_row
  .type thimble_dsp_int4_row, %function
  .thumb_func
  .macro thimble_pair bytes, codes, a, both
  smlad \both, \codes, \bytes, \both
  and \bytes, \bytes, #0x000F000F
  smlad \a, \codes, \bytes, \a
  .endm
  @ 84 bytes.
  .macro thimble_four
  ldr.w r10, [r0], #4
  ldr.w r7, [r1, #4]
  ldr.w r6, [r1], #8
  sxtb16 r11, r10
  sxtb16 r10, r10, ror #8
  sxtb16 r8, r6
  sxtb16 r9, r7
  sxtb16 r6, r6, ror #8
  sxtb16 r7, r7, ror #8
  thimble_pair r8, r11, r2, r3
  thimble_pair r9, r11, r4, r5
  thimble_pair r6, r10, r2, r3
  thimble_pair r7, r10, r4, r5
  .endm
  .macro thimble_finish a, b
  ldmia r1!, {r6-r10}
  subs \b, \b, \a
  add \b, r6, \b, asr #3
  lsls \a, \a, #1
  smmulr \a, \a, r7
  smmulr \b, \b, r9
  add \a, \a, \a, asr #31
  add \b, \b, \b, asr #31
  smmlar \a, \a, r8, lr
  smmlar \b, \b, r10, lr
  ssat \a, #8, \a
  ssat \b, #8, \b
  .endm
thimble_dsp_int4_row:
  push {r4-r11, lr}
  ldmia r0, {r2-r8}
  adr r9, 2f
  movs r10, #84
  mla r9, r7, r10, r9
  orr r7, r9, #1
  mov r12, r3
  push {r2-r8}
1:
  ldrd r2, r4, [r1], #8
  ldr r6, [sp, #24]
  ldr r0, [sp]
  add r2, r2, r6
  add r4, r4, r6
  mov r3, r2
  mov r5, r4
  ldr pc, [sp, #20]
  .p2align 2
2:
  thimble_four
  thimble_four
  thimble_four
  thimble_four
  thimble_four
  thimble_four
  thimble_four
  thimble_four
  cmp r0, r12
  bne 2b
  ldr lr, [sp, #16]
  thimble_finish r2, r3
  thimble_finish r4, r5
  ldrd r0, lr, [sp, #8]
  bfi r2, r3, #8, #8
  bfi r2, r4, #16, #8
  bfi r2, r5, #24, #8
  str r2, [r0], #4
  str r0, [sp, #8]
  cmp r0, lr
  bne 1b
  mov r0, r1
  add sp, sp, #28
  pop {r4-r11, pc}
  .size thimble_dsp_int4_row, . - thimble_dsp_int4_row
  .purgem thimble_pair
  .purgem thimble_four
  .purgem thimble_finish
  .popsection
)");

// r0: x, r1: weights, r2: sum of a, r3: sum of bytes, r4: four bytes of weights, r6, r7:
// activations, r8: weights, r9: x_end, r10: y, r12: zero point.
__asm__(R"(
  .pushsection .text.thimble_dsp_int4_pair, "ax", %progbits
  .syntax unified
  .thumb
  .p2align 2
  .global thimble_dsp_int4_pair
  .type thimble_dsp_int4_pair, %function
  .thumb_func
thimble_dsp_int4_pair:
  push {r4-r10, lr}
  ldr r12, [r0, #16]
  ldrd r9, r10, [r0, #4]
  ldr r2, [r1], #4
  ldr r3, [r0, #24]
  ldr r0, [r0]
  add r2, r2, r3
  mov r3, r2
1:
  ldr r7, [r0], #4
  ldr r4, [r1], #4
  sxtb16 r6, r7
  sxtb16 r7, r7, ror #8
  sxtb16 r8, r4
  smlad r3, r6, r8, r3
  and r8, r8, #0x000F000F
  smlad r2, r6, r8, r2
  sxtb16 r8, r4, ror #8
  smlad r3, r7, r8, r3
  and r8, r8, #0x000F000F
  smlad r2, r7, r8, r2
  cmp r0, r9
  bne 1b
  ldmia r1!, {r4-r8}
  subs r3, r3, r2
  add r3, r4, r3, asr #3
  lsls r2, r2, #1
)" THIMBLE_DSP_SCALE_PAIR R"(
  strb r2, [r10]
  strb r3, [r10, #1]
  pop {r4-r10, pc}
  .size thimble_dsp_int4_pair, . - thimble_dsp_int4_pair
  .popsection
)");

#endif  // THIMBLE_HAS_DSP
