// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parameters of pools. Activations are NHWC in memory (dim_order 0,2,3,1).

#include <cstddef>
#include <cstdint>

#include "abi/params/list.h"

namespace thimble::abi {

/// Begins with AdaptiveMaxPool2dParams.
struct AdaptiveAvgPool2dParams {
  IntList<2> size;  // of the result
  int32_t min, max;
};
static_assert(sizeof(AdaptiveAvgPool2dParams) == 20);

struct AdaptiveMaxPool2dParams {
  IntList<2> size;
};
static_assert(sizeof(AdaptiveMaxPool2dParams) == 12);

/// Parameters of avg_pool2d and max_pool2d. dilation is 1 for avg_pool2d.
struct PoolParams {
  int32_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left, min,
      max;
};
static_assert(sizeof(PoolParams) == 40 && offsetof(PoolParams, pad_top) == 24);

/// The window of a pool of 16-bit activations.
struct PoolWindow {
  IntList<2> kernel, stride;
  IntList<4> padding;  // top, left, bottom, right
};
static_assert(sizeof(PoolWindow) == 44);

struct AvgPool2d16Params {
  PoolWindow window;
  int32_t min, max;
};
static_assert(sizeof(AvgPool2d16Params) == 52 && offsetof(AvgPool2d16Params, min) == 44);

struct MaxPool2d16Params {
  PoolWindow window;
  IntList<2> dilation;
};
static_assert(sizeof(MaxPool2d16Params) == 56 && offsetof(MaxPool2d16Params, dilation) == 44);

}  // namespace thimble::abi
