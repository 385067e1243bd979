// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arguments of 2-D pools, stock and native, as one plain struct.
//
// Memory: x [batch][in_h][in_w][c], y [batch][out_h][out_w][c].

#include <cstdint>

#include "kernels/args/operands.h"
#include "kernels/args/window.h"

namespace thimble::kernels {

struct Pool {
  const int8_t* x = nullptr;
  int8_t* y = nullptr;
  int32_t batch = 0, c = 0;
  WindowAxis axis[2] = {};
  int32_t min = -128, max = 127;
};

/// Signatures of the stock avg_pool2d: the inputs after the padding, in addition to three unused
/// numbers.
enum class AvgPoolSignature : uint8_t { kCurrent, kNoCeilMode, kNoCeilModeNoScratch, kNhwc };

template <AvgPoolSignature kSignature>
Status check_stock_avg_pool(const Call& call);
template <StockSignature kSignature>
Status check_stock_max_pool(const Call& call);
Status check_native_avg_pool(const Call& call);
Status check_native_max_pool(const Call& call);
template <AvgPoolSignature kSignature>
Pool bind_stock_avg_pool(const Call& call);
template <StockSignature kSignature>
Pool bind_stock_max_pool(const Call& call);
Pool bind_native_pool(const Call& call);

}  // namespace thimble::kernels
