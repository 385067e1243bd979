// SPDX-License-Identifier: Apache-2.0
#pragma once
// Loop of thimble::add.table with the DSP extension: four results at a time. Each is the sum of two
// table entries, which is then multiplied, shifted and saturated; the bounds are applied to four
// results at once.

#include <cstdint>

namespace thimble::kernels::dsp {

/// Constants of a call.
struct AddFours {
  const int32_t *a, *b;  // tables of 256 entries, by code
  uint32_t min, max;     // each repeated in four bytes
  int32_t mult, nudge;
  uint32_t shift;
};

/// Computes `count` results; `count` is a positive multiple of 4, and y is 4-byte aligned.
void add_fours(const AddFours& f, const uint8_t* a, const uint8_t* b, uint8_t* y, uint32_t count);

}  // namespace thimble::kernels::dsp
