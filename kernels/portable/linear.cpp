// SPDX-License-Identifier: Apache-2.0
// linear: cortex_m::quantized_linear and thimble::linear; operands and memory:
// kernels/args/linear.h; formula: docs/numerics.md, "Convolution, linear".

#include "abi/ops/linear.h"
#include "abi/ops/stock.h"
#include "kernels/args/linear.h"

#include "kernels/define_kernel.h"
#include "kernels/portable/convolve.h"
#include "kernels/portable/dot.h"

namespace thimble::kernels {
namespace {

template <int kRows>
void features(const Linear& linear, const int8_t* x, int32_t o, int8_t* y) {
  uint32_t acc[kRows];
  for (int k = 0; k < kRows; ++k) acc[k] = static_cast<uint32_t>(linear.requant.start(o + k));
  accumulate(x, linear.w + o * linear.in, linear.in, linear.in, linear.x_offset, acc);
  // A local copy, because the compiler must assume that each store to y can change the original.
  const Requant requant = linear.requant;
  for (int k = 0; k < kRows; ++k) {
    y[o + k] = requant.finish(static_cast<int32_t>(acc[k]), o + k);
  }
}

}  // namespace

void multiply_rows(const Linear& linear) {
  for (int32_t row = 0; row < linear.rows; ++row) {
    const int8_t* x = linear.x + row * linear.in;
    int8_t* y = linear.y + row * linear.out;
    int32_t o = 0;
    for (; o + 4 <= linear.out; o += 4) features<4>(linear, x, o, y);
    for (; o < linear.out; ++o) features<1>(linear, x, o, y);
  }
}

namespace {

void run_stock(const Call& call) {
  multiply_rows(bind_stock_linear(call));
}
void run_native(const Call& call) {
  multiply_rows(bind_native_linear(call));
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, cortex_m_quantized_linear, check_stock_linear, run_stock);
THIMBLE_DEFINE_KERNEL(portable, thimble_linear, check_native_linear, run_native);

}  // namespace thimble::kernels
