// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#if THIMBLE_HAS_DSP

#include <string.h>

#include "kernels/dsp/clamp.h"

namespace thimble::kernels::dsp {

void clamp_codes(int8_t* codes, uint32_t count, int32_t min, int32_t max) {
  if (min == -128 && max == 127) return;
  const uint32_t low = static_cast<uint8_t>(min) * 0x01010101U;
  const uint32_t high = static_cast<uint8_t>(max) * 0x01010101U;
  const auto clamped = [low, high](uint32_t word) {
    uint32_t difference;
    __asm__(
        "ssub8 %1, %0, %2\n\t"
        "sel %0, %0, %2\n\t"
        "ssub8 %1, %3, %0\n\t"
        "sel %0, %0, %3"
        : "+r"(word), "=&r"(difference)
        : "r"(low), "r"(high));
    return word;
  };
  for (; count >= 4; count -= 4, codes += 4) {
    uint32_t word;
    memcpy(&word, codes, sizeof word);
    word = clamped(word);
    memcpy(codes, &word, sizeof word);
  }
  for (; count != 0; --count, ++codes) {
    *codes = static_cast<int8_t>(clamped(static_cast<uint8_t>(*codes)));
  }
}

}  // namespace thimble::kernels::dsp

#endif  // THIMBLE_HAS_DSP
