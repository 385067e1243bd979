// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parameters of elementwise operators. Operands broadcast by logical shape.

#include <cstddef>
#include <cstdint>

namespace thimble::abi {

/// Parameters of add. b_negate = 1 negates operand b (subtraction).
struct AddParams {
  int32_t a_offset, a_mult, a_shift;  // offsets are -zero_point
  int32_t b_offset, b_mult, b_shift;
  int32_t y_offset, y_mult, y_shift;  // +zero_point
  int32_t min, max, b_negate;
};
static_assert(sizeof(AddParams) == 48 && offsetof(AddParams, y_offset) == 24);

/// add16 and sub16
struct Add16Params {
  int32_t a_mult, a_shift, b_mult, b_shift, y_mult, y_shift, min, max;
};
static_assert(sizeof(Add16Params) == 32 && offsetof(Add16Params, min) == 24);

struct CompareParams {
  int32_t relation;  // 0 eq, 1 ne, 2 lt, 3 le, 4 gt, 5 ge
};
static_assert(sizeof(CompareParams) == 4);

struct DivParams {
  int32_t a_zp, b_zp, y_zp, mult, shift, min, max, rounding;
};
static_assert(sizeof(DivParams) == 32 && offsetof(DivParams, min) == 20);

/// Parameters of mul.
struct MulParams {
  int32_t a_offset, b_offset, y_offset, mult, shift, min, max;
};
static_assert(sizeof(MulParams) == 28 && offsetof(MulParams, mult) == 12);

struct Mul16Params {
  int32_t mult, shift, min, max;
};
static_assert(sizeof(Mul16Params) == 16);

struct PreluParams {
  int32_t x_zp, w_zp, y_zp, mult, shift, w_mult, w_shift, min, max, rounding;
};
static_assert(sizeof(PreluParams) == 40 && offsetof(PreluParams, w_mult) == 20);

struct Prelu16Params {
  int32_t mult, shift, w_mult, w_shift, min, max;
};
static_assert(sizeof(Prelu16Params) == 24);

struct RescaleParams {
  int32_t x_zp, y_zp, mult, shift, wide;  // wide = 1: the result is int16
};
static_assert(sizeof(RescaleParams) == 20);

}  // namespace thimble::abi
