// SPDX-License-Identifier: Apache-2.0
#pragma once
// Convolution and linear as matrix products, for T = float or double.
//
// Integers with magnitude below 2^24 (2^53) are exact in float (double) for any summation order.
// Therefore the same code computes integer accumulators (quant/simulate.h).

#include <cstdint>

#include "eval/call.h"
#include "quant/fast/executor.h"

namespace thimble::quant {

/// A 2-D convolution [N,C,H,W] -> [N,O,h,w]. Bottom and right padding follow from the sizes.
struct Convolution {
  int64_t batch, in_channels, in_h, in_w;
  int64_t out_channels, out_h, out_w;
  int64_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, top, left, groups;

  [[nodiscard]] int64_t terms() const { return in_channels / groups * kernel_h * kernel_w; }
  [[nodiscard]] bool pointwise() const;
  [[nodiscard]] bool depthwise() const;
};
/// Returns the parameters of a conv2d or qconv2d.
[[nodiscard]] Convolution convolution_of(const eval::Call& call);

/// y = x * w + bias; bias may be null. Uses scratch slots 0 and 1.
template <typename T>
void convolve(const Convolution& c, const T* x, const T* w, const T* bias, T* y, Scratch& scratch);

/// y[rows, out] = x[rows, in] * w[out, in]^T.
template <typename T>
void multiply_transposed(const T* x, const T* w, T* y, int64_t rows, int64_t in, int64_t out);

/// Fixes the block sizes of matrix products, which determine the order of float sums. Idempotent.
void fix_block_sizes();

}  // namespace thimble::quant
