#pragma once
// Constant of add_flat: a sum without broadcasting, computed arithmetically (without tables). The
// rules of abi/native_params.h apply.

#include <cstdint>

#include "abi/native_params.h"

namespace thimble::abi {

/// Constant of add_flat. a and b have one shape and one memory order, with `count` elements. a is
/// the operand with the larger scale (a_mult 2^30, a_shift 0 in the formula of qadd):
/// y = requantize(+-(a - a_zp) * 2^19 + requantize(+-(b - b_zp) * 2^20, b_mult, b_shift), y_mult,
/// y_shift). Shifts are -31 to 0; y_shift is below 0.
struct AddFlat {
  uint32_t count;
  int32_t b_mult, y_mult;
  int16_t a_zero_point, b_zero_point, y_zero_point;
  int16_t min, max;
  int8_t b_shift, y_shift;
  uint8_t a_negate, b_negate;
  uint8_t reserved[2];
};
static_assert(sizeof(AddFlat) == 28);

}  // namespace thimble::abi
