// SPDX-License-Identifier: Apache-2.0
// conv2d_scalar, depthwise_scalar and linear_scalar on any core, as abi/matmul_scalar.h specifies
// them, tap by tap.

#include "kernels/args/conv_scalar.h"
#include "abi/ops/conv.h"
#include "abi/ops/linear.h"
#include "abi/params/linear.h"
#include "abi/params/window.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

void run_conv2d(void* const* operands) {
  const abi::WindowGeometry& g = window_geometry(operands[1]);
  const auto* x = static_cast<const int8_t*>(operands[0]);
  auto* y = static_cast<int8_t*>(operands[4]);
  const auto row = static_cast<int32_t>(abi::scalar_row(window_bytes(g)));
  for (int32_t oy = 0; oy < g.out_h; ++oy) {
    for (int32_t ox = 0; ox < g.out_w; ++ox) {
      const int8_t* w = scalar_weights(operands[2], g.out_c);
      for (int32_t o = 0; o < g.out_c; ++o, w += row) {
        const abi::ScalarChannel& channel = scalar_channels(operands[2])[o];
        uint32_t acc = static_cast<uint32_t>(channel.bias);
        const int8_t* tap = w;
        for (int32_t ky = 0; ky < g.kernel_h; ++ky) {
          const int32_t iy = oy * g.stride_h - g.pad_top + ky * g.dilation_h;
          for (int32_t kx = 0; kx < g.kernel_w; ++kx) {
            const int32_t ix = ox * g.stride_w - g.pad_left + kx * g.dilation_w;
            const bool inside = iy >= 0 && iy < g.in_h && ix >= 0 && ix < g.in_w;
            for (int32_t i = 0; i < g.in_c; ++i) {
              const int32_t code =
                  inside ? x[(iy * g.in_w + ix) * g.in_c + i] : int32_t{g.x_zero_point};
              acc += static_cast<uint32_t>(code * *tap++);
            }
          }
        }
        *y++ = scalar_code(channel, static_cast<int32_t>(acc), g.min, g.max);
      }
    }
  }
}

void run_depthwise(void* const* operands) {
  const abi::WindowGeometry& g = window_geometry(operands[1]);
  const auto* x = static_cast<const int8_t*>(operands[0]);
  auto* y = static_cast<int8_t*>(operands[4]);
  const int8_t* const w = scalar_weights(operands[2], g.out_c);
  const int32_t multiplier = g.out_c / g.in_c;
  for (int32_t oy = 0; oy < g.out_h; ++oy) {
    for (int32_t ox = 0; ox < g.out_w; ++ox) {
      for (int32_t o = 0; o < g.out_c; ++o) {
        const abi::ScalarChannel& channel = scalar_channels(operands[2])[o];
        uint32_t acc = static_cast<uint32_t>(channel.bias);
        for (int32_t ky = 0; ky < g.kernel_h; ++ky) {
          const int32_t iy = oy * g.stride_h - g.pad_top + ky * g.dilation_h;
          for (int32_t kx = 0; kx < g.kernel_w; ++kx) {
            const int32_t ix = ox * g.stride_w - g.pad_left + kx * g.dilation_w;
            const bool inside = iy >= 0 && iy < g.in_h && ix >= 0 && ix < g.in_w;
            const int32_t code =
                inside ? x[(iy * g.in_w + ix) * g.in_c + o / multiplier] : int32_t{g.x_zero_point};
            acc += static_cast<uint32_t>(code * w[(ky * g.kernel_w + kx) * g.out_c + o]);
          }
        }
        *y++ = scalar_code(channel, static_cast<int32_t>(acc), g.min, g.max);
      }
    }
  }
}

void run_linear(void* const* operands) {
  const abi::LinearGeometry& g = linear_geometry(operands[1]);
  const auto* x = static_cast<const int8_t*>(operands[0]);
  auto* y = static_cast<int8_t*>(operands[3]);
  const uint32_t row = scalar_row(g.in_features);
  const bool blocks = has_blocks(operands[2]);
  for (uint32_t r = 0; r < g.rows; ++r, x += g.in_features) {
    for (uint32_t o = 0; blocks && o < g.out_features; ++o) {
      *y++ = scalar_block_result(g, operands[2], o, x);
    }
    if (blocks) continue;
    const int8_t* w = scalar_weights(operands[2], g.out_features);
    for (uint32_t o = 0; o < g.out_features; ++o, w += row) {
      const abi::ScalarChannel& channel = scalar_channels(operands[2])[o];
      uint32_t acc = static_cast<uint32_t>(channel.bias);
      for (uint32_t i = 0; i < g.in_features; ++i) acc += static_cast<uint32_t>(x[i] * w[i]);
      *y++ = scalar_code(channel, static_cast<int32_t>(acc), g.min, g.max);
    }
  }
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_conv2d_scalar, check_conv2d_scalar, run_conv2d);
THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_depthwise_scalar, check_depthwise_scalar,
                           run_depthwise);
THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_linear_scalar, check_linear_scalar, run_linear);

}  // namespace thimble::kernels
