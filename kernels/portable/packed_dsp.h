// SPDX-License-Identifier: Apache-2.0
#pragma once
// Results of DSP extension instructions, for the portable kernels of its packed forms.

#include <string.h>
#include <cstdint>

#include "numerics/fixed_point.h"

namespace thimble::kernels {

/// Returns the high word of a * b + add * 2^32 to nearest, halves up: SMMULR and SMMLAR.
constexpr int32_t high_word(int32_t a, int32_t b, int32_t add) {
  return numerics::wrap_add(numerics::rounded_high(a, b), add);
}

/// Requantizes twice a sum; the result is not clamped yet.
constexpr int32_t finish_dsp(int32_t twice, int32_t mult, int32_t scale, int32_t zero_point) {
  const int32_t scaled = high_word(twice, mult, 0);
  return high_word(numerics::wrap_add(scaled, scaled < 0 ? -1 : 0), scale, zero_point);
}

inline int32_t word_at(const uint8_t* bytes) {
  int32_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

}  // namespace thimble::kernels
