// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parameters of convolutions. Activations are NHWC in memory (dim_order 0,2,3,1).

#include <cstddef>
#include <cstdint>

#include "abi/params/list.h"

namespace thimble::abi {

/// Header of conv2d and depthwise_conv2d. The arrays are int32 bias[out_channels], int32
/// mult[out_channels], int8 shift[out_channels] (padded to 4), int8 weights:
///   conv2d [out_channels][kernel_h][kernel_w][in_channels/groups],
///   depthwise [kernel_h][kernel_w][out_channels]; channel o reads input o / (out/in).
struct ConvParams {
  int32_t out_channels, groups;
  int32_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
  int32_t pad_top, pad_left;   // bottom and right follow from the output shape
  int32_t x_offset, y_offset;  // -zero_point of x, +zero_point of y
  int32_t min, max;
};
static_assert(sizeof(ConvParams) == 56 && offsetof(ConvParams, x_offset) == 40);

struct Conv2d16Params {
  IntList<2> stride;
  IntList<4> padding;  // top, left, bottom, right
  IntList<2> dilation;
  int32_t groups, min, max;
};
static_assert(sizeof(Conv2d16Params) == 56 && offsetof(Conv2d16Params, groups) == 44);

/// The window of a transposed convolution.
struct TransposedWindow {
  IntList<2> stride;
  IntList<4> padding;  // top, left, bottom, right
  IntList<2> output_padding, dilation;
};
static_assert(sizeof(TransposedWindow) == 56);

struct ConvTranspose2dParams {
  TransposedWindow window;
  int32_t groups, x_zp, y_zp, min, max, rounding;
};
static_assert(sizeof(ConvTranspose2dParams) == 80 && offsetof(ConvTranspose2dParams, groups) == 56);

struct ConvTranspose2d16Params {
  TransposedWindow window;
  int32_t groups, min, max;
};
static_assert(sizeof(ConvTranspose2d16Params) == 68 &&
              offsetof(ConvTranspose2d16Params, groups) == 56);

}  // namespace thimble::abi
