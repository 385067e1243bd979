// SPDX-License-Identifier: Apache-2.0
// The loop of add_fours.h; add_fours_m7.cpp has that of the Cortex-M7.

#include "kernels/dsp/add_fours.h"

#include "kernels/dsp/dual_issue.h"

#if THIMBLE_HAS_DSP_SINGLE

namespace thimble::kernels::dsp {

#define THIMBLE_ADD_ONE               \
  "ldrb %[s], [%[a]], #1\n"           \
  "ldrb %[t], [%[b]], #1\n"           \
  "ldr %[s], [%[ta], %[s], lsl #2]\n" \
  "ldr %[t], [%[tb], %[t], lsl #2]\n" \
  "add %[s], %[s], %[t]\n"            \
  "smmulr %[s], %[s], %[mult]\n"      \
  "add %[s], %[s], %[s], asr #31\n"   \
  "add %[s], %[s], %[nudge]\n"        \
  "asr %[s], %[s], %[shift]\n"

void add_fours(const AddFours& f, const uint8_t* a, const uint8_t* b, uint8_t* y, uint32_t count) {
  uint32_t s, t, word;
  uint8_t* const end = y + count;
  asm volatile(
      "1:\n"                                      //
      THIMBLE_ADD_ONE "ssat %[word], #8, %[s]\n"  //
      THIMBLE_ADD_ONE
      "ssat %[s], #8, %[s]\n"
      "bfi %[word], %[s], #8, #8\n"  //
      THIMBLE_ADD_ONE
      "ssat %[s], #8, %[s]\n"
      "bfi %[word], %[s], #16, #8\n"  //
      THIMBLE_ADD_ONE
      "ssat %[s], #8, %[s]\n"
      "bfi %[word], %[s], #24, #8\n"
      "ldr %[s], %[min]\n"
      "ssub8 %[t], %[word], %[s]\n"
      "sel %[word], %[word], %[s]\n"
      "ldr %[s], %[max]\n"
      "ssub8 %[t], %[word], %[s]\n"
      "sel %[word], %[s], %[word]\n"
      "str %[word], [%[y]], #4\n"
      "cmp %[y], %[end]\n"
      "bne 1b\n"
      : [a] "+r"(a), [b] "+r"(b), [y] "+r"(y), [s] "=&r"(s), [t] "=&r"(t), [word] "=&r"(word)
      : [ta] "r"(f.a), [tb] "r"(f.b), [mult] "r"(f.mult), [nudge] "r"(f.nudge),
        [shift] "r"(f.shift), [end] "r"(end), [min] "m"(f.min), [max] "m"(f.max)
      : "cc", "memory");
}

#undef THIMBLE_ADD_ONE

}  // namespace thimble::kernels::dsp

#endif  // THIMBLE_HAS_DSP_SINGLE
