// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arguments of quantize and dequantize: y has the elements of x in another type, and possibly
// another dim_order.

#include <cstdint>

#include "kernels/args/operands.h"
#include "kernels/args/stride_iterator.h"

namespace thimble::kernels {

struct QuantizeArgs {
  const void* x = nullptr;
  void* y = nullptr;
  float scale = 1;
  int32_t zero_point = 0;
  StrideIterator iterator;  // operands: y, x, in elements; y is traversed in memory order
};

/// Checks arguments 0, 1 and 2 (x, scale, zero_point) and output `y`.
Status check_quantize_args(const Call& call, const Tensor& y, DType from, DType to);
/// Checks the stock operands, including range, dtype and equal dim_order.
Status check_stock_quantize_args(const Call& call, DType from, DType to);
QuantizeArgs bind_quantize_args(const Call& call, uint32_t y);

}  // namespace thimble::kernels
