// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arguments of 2-D convolutions, stock and native, as one plain struct, so that every variant uses
// the same binding and the same checks.
//
// Memory: x [batch][in_h][in_w][in_c], y [batch][out_h][out_w][out_c];
// w [out_c][kernel_h][kernel_w][in_c / groups], or depthwise [kernel_h][kernel_w][out_c].

#include <cstdint>

#include "kernels/args/requant.h"
#include "kernels/args/window.h"

namespace thimble::kernels {

struct Conv {
  const int8_t* x = nullptr;
  const int8_t* w = nullptr;
  int8_t* y = nullptr;
  int32_t batch = 0, in_c = 0, out_c = 0;
  int32_t groups = 1;  // in_c for depthwise; channel o reads input o / (out_c / groups)
  int32_t x_offset = 0;
  int8_t* scratch = nullptr;  // of the stock form, as large as the file has planned it
  int32_t scratch_bytes = 0;
  WindowAxis axis[2] = {};  // height, width
  Requant requant;
};

template <StockSignature kSignature>
Status check_stock_conv2d(const Call& call);
template <StockSignature kSignature>
Status check_stock_depthwise(const Call& call);
Status check_native_conv2d(const Call& call);
Status check_native_depthwise(const Call& call);

template <StockSignature kSignature>
Conv bind_stock_conv2d(const Call& call);
template <StockSignature kSignature>
Conv bind_stock_depthwise(const Call& call);
Conv bind_native_conv(const Call& call);  // also for depthwise

}  // namespace thimble::kernels
