#pragma once
// Arguments of quantize and dequantize: the same elements in another type, and perhaps another
// order of dimensions.

#include <cstdint>

#include "kernels/args/operands.h"
#include "kernels/args/walk.h"

namespace thimble::kernels {

struct Edge {
  const void* x = nullptr;
  void* y = nullptr;
  float scale = 1;
  int32_t zero_point = 0;
  Walk walk;  // operands: y, x, in elements; y runs through its memory in order
};

/// Arguments 0, 1 and 2 (x, scale, zero_point) against output `y`.
Status check_edge(const Call& call, const Tensor& y, DType from, DType to);
/// The stock operands: also range, dtype and equal order of dimensions.
Status check_stock_edge(const Call& call, DType from, DType to);
Edge bind_edge(const Call& call, uint32_t y);

}  // namespace thimble::kernels
