// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parameters of reductions and scans. keepdim = 1: the reduced dimensions stay, with size 1.

#include <cstddef>
#include <cstdint>

#include "abi/params/list.h"

namespace thimble::abi {

struct ArgmaxParams {
  int32_t dim, keepdim, smallest;
};
static_assert(sizeof(ArgmaxParams) == 12);

struct CumsumParams {
  int32_t dim, x_zp, y_zp, mult, shift, min, max, rounding;
};
static_assert(sizeof(CumsumParams) == 32 && offsetof(CumsumParams, mult) == 12);

/// Parameters of mean. Bit d of `dims_mask` is set if logical dimension d is reduced. The output
/// has the reduced dimensions as 1, or without them.
struct MeanParams {
  uint32_t dims_mask;
  int32_t x_offset, y_offset, mult, shift, min, max;
};
static_assert(sizeof(MeanParams) == 28 && offsetof(MeanParams, mult) == 12);

struct Mean16Params {
  int32_t keepdim, mult, shift, min, max;
  IntTail dims;
};
static_assert(sizeof(Mean16Params) == 24 && offsetof(Mean16Params, dims) == 20);

/// amax and amin
struct ReduceParams {
  int32_t keepdim;
  IntTail dims;
};
static_assert(sizeof(ReduceParams) == 8);

struct VarianceParams {
  int32_t keepdim, y_zp, mult, shift, min, max;
  IntTail dims;
};
static_assert(sizeof(VarianceParams) == 28 && offsetof(VarianceParams, dims) == 24);

}  // namespace thimble::abi
