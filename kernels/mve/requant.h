// SPDX-License-Identifier: Apache-2.0
#pragma once
// docs/numerics.md, "Requantization", for four sums at once. Shifts are negative; they may be 0 if
// negative_rounding_correction() is 0. The compiler packs no operators with other shifts; general
// kernels run those.

#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include <arm_mve.h>

namespace thimble::kernels::mve {

/// Returns 1 if negative values must be decremented before vrshl, else 0. vrshl rounds halves up,
/// but requantization rounds them away from zero. No correction is needed if all negative values
/// are clamped to the result of 0, for example by a ReLU.
inline int32_t negative_rounding_correction(int32_t y_zero_point, int32_t min) {
  return min < y_zero_point ? 1 : 0;
}

/// Returns value / 2^-shift to nearest; `down` is the result of negative_rounding_correction(). The
/// decrement of a negative value is the high half of its doubled product with 1; one instruction
/// adds it.
inline int32x4_t divide(int32x4_t value, int32x4_t shift, int32_t down) {
  return vrshlq_s32(vqdmlahq_n_s32(value, value, down), shift);
}

inline int32x4_t requantize(int32x4_t sum, int32x4_t mult, int32x4_t shift, int32_t down) {
  return divide(vqrdmulhq_s32(sum, mult), shift, down);
}

}  // namespace thimble::kernels::mve

#endif
