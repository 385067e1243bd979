// SPDX-License-Identifier: Apache-2.0
// max_pool2d: cortex_m::quantized_max_pool2d and thimble::max_pool2d; operands and memory:
// kernels/args/pool.h; formula: docs/numerics.md, "Pools and reductions". Each tap updates the
// maxima of all channels in the output row, so that no accumulators are needed.

#include "abi/ops/pool.h"
#include "abi/ops/stock.h"
#include "kernels/args/pool.h"
#include "kernels/args/stock_window.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/pools.h"

namespace thimble::kernels {
namespace {

void fold(const int8_t* x, int32_t channels, int8_t* y) {
  for (int32_t c = 0; c < channels; ++c) y[c] = x[c] > y[c] ? x[c] : y[c];
}

void pixel(const Pool& pool, const int8_t* image, int32_t oy, int32_t ox, int8_t* y) {
  const WindowAxis& down = pool.axis[0];
  const WindowAxis& across = pool.axis[1];
  const int32_t y_origin = down.origin(oy);
  const int32_t x_origin = across.origin(ox);
  const Taps ty = down.inside(y_origin);
  const Taps tx = across.inside(x_origin);
  for (int32_t c = 0; c < pool.c; ++c) y[c] = static_cast<int8_t>(pool.min);
  for (int32_t ky = ty.first; ky < ty.last; ++ky) {
    const int8_t* row = image + (y_origin + ky * down.dilation) * across.in * pool.c;
    for (int32_t kx = tx.first; kx < tx.last; ++kx) {
      fold(row + (x_origin + kx * across.dilation) * pool.c, pool.c, y);
    }
  }
  if (pool.max == 127) return;
  for (int32_t c = 0; c < pool.c; ++c) {
    if (y[c] > pool.max) y[c] = static_cast<int8_t>(pool.max);
  }
}

}  // namespace

void maximum_pool(const Pool& pool) {
  const int8_t* image = pool.x;
  int8_t* y = pool.y;
  for (int32_t n = 0; n < pool.batch; ++n) {
    for (int32_t oy = 0; oy < pool.axis[0].out; ++oy) {
      for (int32_t ox = 0; ox < pool.axis[1].out; ++ox) {
        pixel(pool, image, oy, ox, y);
        y += pool.c;
      }
    }
    image += pool.axis[0].in * pool.axis[1].in * pool.c;
  }
}

namespace {

template <StockSignature kSignature>
void run_stock(const Call& call) {
  const Pool pool = bind_stock_max_pool<kSignature>(call);
  const bool bounded = pool.min != -128 || pool.max != 127;
  if (bounded || !run_packed_pool<maximum_of_windows>(pool)) maximum_pool(pool);
}
void run_native(const Call& call) {
  maximum_pool(bind_native_pool(call));
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, cortex_m_quantized_max_pool2d,
                      check_stock_max_pool<StockSignature::kCurrent>,
                      run_stock<StockSignature::kCurrent>);
THIMBLE_DEFINE_KERNEL(portable, cortex_m_quantized_max_pool2d_nhwc,
                      check_stock_max_pool<StockSignature::kNhwc>,
                      run_stock<StockSignature::kNhwc>);
THIMBLE_DEFINE_KERNEL(portable, thimble_max_pool2d, check_native_max_pool, run_native);

}  // namespace thimble::kernels
