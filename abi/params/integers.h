// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parameters of arithmetic on 32-bit integers: positions, masks, lengths. The values of `function`
// are those of src/ir/int_functions.h.

#include <cstddef>
#include <cstdint>

#include "abi/params/list.h"

namespace thimble::abi {

struct IntCastParams {
  int32_t type;  // of the result; the kernel reads it from the tensor
};
static_assert(sizeof(IntCastParams) == 4);

struct IntCumsumParams {
  int32_t dim;
};
static_assert(sizeof(IntCumsumParams) == 4);

struct IntPairParams {
  // 0 add, 1 sub, 2 mul, 3 floor_divide, 4 truncate_divide, 5 remainder, 6 fmod, 7 and, 8 or, 9 xor
  int32_t function;
};
static_assert(sizeof(IntPairParams) == 4);

/// x is limited to min and max before it is scaled. wide = 1: the result is int16.
struct IntQuantizeParams {
  int32_t min, max, y_zp, mult, shift, wide;
};
static_assert(sizeof(IntQuantizeParams) == 24);

struct IntReduceParams {
  int32_t function;  // 0 sum, 1 max, 2 min, 3 argmax, 4 argmin
  int32_t keepdim;
  IntTail dims;
};
static_assert(sizeof(IntReduceParams) == 12 && offsetof(IntReduceParams, dims) == 8);

}  // namespace thimble::abi
