// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arguments of convolutions, linear layers and products of matrices on float32, so that every
// variant uses the same binding and the same checks.

#include <cstdint>

#include "kernels/args/broadcast_pair.h"
#include "kernels/args/window.h"

namespace thimble::kernels {

/// thimble::conv2d.f32. H and W are one axis where that gives the same result.
struct FloatConv {
  WindowAxis down, across;
  bool of_pixels;             // a window is one pixel: its taps are its channels
  const float *x, *w, *bias;  // bias may be null
  float* y;
  int32_t batch, in_c, out_c, group_in, group_out;
  int32_t plane, out_plane;  // elements of one channel

  /// The distance of two output channels in w.
  int32_t next_weights() const { return group_in * down.kernel * across.kernel; }
};
Status check_float_conv(const Call& call);
FloatConv bind_float_conv(const Call& call);

/// thimble::linear.f32.
Status check_float_linear(const Call& call);

/// One factor or the result of a product: its address and its strides.
struct FloatMatrix {
  float* data;
  int32_t row, column, batch;
};
/// Returns the matrix of the last two dimensions of t, at index 0 of all other dimensions.
FloatMatrix float_matrix(const Tensor& t);
/// Checks that the operands have this rank, 2 or 3, and that y is the product of a and b.
Status check_float_product(const Tensor& a, const Tensor& b, const Tensor& y, uint32_t rank);

}  // namespace thimble::kernels
