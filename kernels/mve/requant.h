#pragma once
// docs/numerics.md, "Requantization", for four sums at once. Shifts are negative (0 too, where
// halves_down() is 0): who packs leaves operators with others to the general kernels.

#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include <arm_mve.h>

namespace thimble::kernels::mve {

/// Halves are rounded away from zero, and vrshl rounds them up: negative values have to be one less
/// first. Not where all that is negative will be clamped to what 0 becomes, as behind a ReLU.
inline int32_t halves_down(int32_t y_zero_point, int32_t min) {
  return min < y_zero_point ? 1 : 0;
}

/// value / 2^-shift to nearest, `down` being what halves_down() says. The sign is half of the upper
/// word of the doubled product with 1: one instruction adds it.
inline int32x4_t divide(int32x4_t value, int32x4_t shift, int32_t down) {
  return vrshlq_s32(vqdmlahq_n_s32(value, value, down), shift);
}

inline int32x4_t requantize(int32x4_t sum, int32x4_t mult, int32x4_t shift, int32_t down) {
  return divide(vqrdmulhq_s32(sum, mult), shift, down);
}

}  // namespace thimble::kernels::mve

#endif
