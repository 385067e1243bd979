// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arguments of linear, stock and native, as one plain struct.
//
// Memory: x [rows][in], w [out][in], y [rows][out]. All leading dimensions of x are rows; all
// tensors are contiguous.

#include <cstdint>

#include "kernels/args/requant.h"

namespace thimble::kernels {

struct Linear {
  const int8_t* x = nullptr;
  const int8_t* w = nullptr;
  int8_t* y = nullptr;
  int32_t rows = 0, in = 0, out = 0;
  int32_t x_offset = 0;  // 0 with kernel_sum, which already includes it
  Requant requant;
};

Status check_stock_linear(const Call& call);
Status check_native_linear(const Call& call);
Linear bind_stock_linear(const Call& call);
Linear bind_native_linear(const Call& call);

}  // namespace thimble::kernels
