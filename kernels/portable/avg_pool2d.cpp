// SPDX-License-Identifier: Apache-2.0
// avg_pool2d: cortex_m::quantized_avg_pool2d and thimble::avg_pool2d; operands and memory:
// kernels/args/pool.h; formula: docs/numerics.md, "Pools and reductions". The count excludes
// padding.

#include "abi/ops/pool.h"
#include "abi/ops/stock.h"
#include "kernels/args/pool.h"
#include "kernels/args/stock_window.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/pools.h"

namespace thimble::kernels {
namespace {

struct Patch {
  const int8_t* x;
  int32_t rows, columns, x_row, x_column;
};

int32_t sum(const Patch& patch, int32_t channel) {
  int32_t total = 0;
  for (int32_t row = 0; row < patch.rows; ++row) {
    const int8_t* x = patch.x + channel + row * patch.x_row;
    for (int32_t column = 0; column < patch.columns; ++column) {
      total += *x;
      x += patch.x_column;
    }
  }
  return total;
}

void pixel(const Pool& pool, const Patch& patch, int8_t* y) {
  const int32_t count = patch.rows * patch.columns;
  const int32_t half = count / 2;
  for (int32_t c = 0; c < pool.c; ++c) {
    const int32_t total = sum(patch, c);
    const int32_t mean = (total + (total >= 0 ? half : -half)) / count;
    y[c] = static_cast<int8_t>(numerics::clamp(mean, pool.min, pool.max));
  }
}

}  // namespace

void average_pool(const Pool& pool) {
  const WindowAxis& down = pool.axis[0];
  const WindowAxis& across = pool.axis[1];
  const int8_t* image = pool.x;
  int8_t* y = pool.y;
  Patch patch;
  patch.x_column = pool.c;
  patch.x_row = across.in * pool.c;
  for (int32_t n = 0; n < pool.batch; ++n) {
    for (int32_t oy = 0; oy < down.out; ++oy) {
      const int32_t y_origin = down.origin(oy);
      const Taps ty = down.inside(y_origin);
      for (int32_t ox = 0; ox < across.out; ++ox) {
        const int32_t x_origin = across.origin(ox);
        const Taps tx = across.inside(x_origin);
        patch.x = image + (y_origin + ty.first) * patch.x_row + (x_origin + tx.first) * pool.c;
        patch.rows = ty.last - ty.first;
        patch.columns = tx.last - tx.first;
        pixel(pool, patch, y);
        y += pool.c;
      }
    }
    image += down.in * patch.x_row;
  }
}

namespace {

template <AvgPoolSignature kSignature>
void run_stock(const Call& call) {
  const Pool pool = bind_stock_avg_pool<kSignature>(call);
  if (!run_packed_pool<average_windows>(pool)) average_pool(pool);
}
void run_native(const Call& call) {
  average_pool(bind_native_pool(call));
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, cortex_m_quantized_avg_pool2d,
                      check_stock_avg_pool<AvgPoolSignature::kCurrent>,
                      run_stock<AvgPoolSignature::kCurrent>);
THIMBLE_DEFINE_KERNEL(portable, cortex_m_quantized_avg_pool2d_8,
                      check_stock_avg_pool<AvgPoolSignature::kNoCeilModeNoScratch>,
                      run_stock<AvgPoolSignature::kNoCeilModeNoScratch>);
THIMBLE_DEFINE_KERNEL(portable, cortex_m_quantized_avg_pool2d_9,
                      check_stock_avg_pool<AvgPoolSignature::kNoCeilMode>,
                      run_stock<AvgPoolSignature::kNoCeilMode>);
THIMBLE_DEFINE_KERNEL(portable, cortex_m_quantized_avg_pool2d_nhwc,
                      check_stock_avg_pool<AvgPoolSignature::kNhwc>,
                      run_stock<AvgPoolSignature::kNhwc>);
THIMBLE_DEFINE_KERNEL(portable, thimble_avg_pool2d, check_native_avg_pool, run_native);

}  // namespace thimble::kernels
