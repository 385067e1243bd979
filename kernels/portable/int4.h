// SPDX-License-Identifier: Apache-2.0
#pragma once
// Convolutions and linear layers with weights of 4 bits on any core. `Weights` reads one packed
// form: codes(x, y) computes the results of all channels for a row of x.

#include "abi/int4.h"
#include "abi/params/linear.h"
#include "abi/params/window.h"
#include "kernels/args/int4.h"

namespace thimble::kernels {

/// Computes the channels one by one. The kernels that use it run on hosts and on cores for which
/// the form is not made.
template <class Weights>
int8_t* each_code(const Weights& weights, const int8_t* x, int8_t* y) {
  for (uint32_t channel = 0; channel < weights.channels; ++channel) {
    *y++ = weights.code(channel, x);
  }
  return y;
}

/// Copies the window of one pixel, because y may overlap the data that is read.
inline void gather_window(const abi::WindowGeometry& g, const int8_t* x, int32_t top, int32_t left,
                          int8_t* window) {
  for (int32_t ky = 0; ky < g.kernel_h; ++ky) {
    for (int32_t kx = 0; kx < g.kernel_w; ++kx) {
      const int32_t row = top + ky * g.dilation_h;
      const int32_t column = left + kx * g.dilation_w;
      const bool inside = row >= 0 && row < g.in_h && column >= 0 && column < g.in_w;
      for (int32_t c = 0; c < g.in_c; ++c) {
        const int32_t zero = g.x_zero_point;
        *window++ = static_cast<int8_t>(inside ? x[(row * g.in_w + column) * g.in_c + c] : zero);
      }
    }
  }
}

template <class Weights>
void run_conv2d_int4(void* const* operands) {
  const auto* const x = static_cast<const int8_t*>(operands[0]);
  const abi::WindowGeometry& g = window_geometry(operands[1]);
  const auto depth = static_cast<uint32_t>(window_bytes(g));
  const Weights weights = {operands[2], g.out_c, depth, g.y_zero_point, g.min, g.max};
  auto* const window = static_cast<int8_t*>(operands[3]);
  auto* y = static_cast<int8_t*>(operands[4]);
  for (int32_t oy = 0; oy < g.out_h; ++oy) {
    for (int32_t ox = 0; ox < g.out_w; ++ox) {
      gather_window(g, x, oy * g.stride_h - g.pad_top, ox * g.stride_w - g.pad_left, window);
      y = weights.codes(window, y);
    }
  }
}

template <class Weights>
void run_linear_int4(void* const* operands) {
  const auto* x = static_cast<const int8_t*>(operands[0]);
  const abi::LinearGeometry& g = linear_geometry(operands[1]);
  const Weights weights = {operands[2],    g.out_features, g.in_features,
                           g.y_zero_point, g.min,          g.max};
  auto* y = static_cast<int8_t*>(operands[3]);
  for (uint32_t row = 0; row < g.rows; ++row, x += g.in_features) {
    y = weights.codes(x, y);
  }
}

}  // namespace thimble::kernels
