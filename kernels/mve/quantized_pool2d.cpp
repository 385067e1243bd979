// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_avg_pool2d and cortex_m::quantized_max_pool2d with the loops of the packed
// pools. The portable bodies run pools that a geometry cannot express, and maxima with bounds.

#include "abi/ops/stock.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include "kernels/args/pool.h"
#include "kernels/args/stock_window.h"
#include "kernels/define_kernel.h"
#include "kernels/mve/window_pool.h"
#include "kernels/portable/pools.h"

namespace thimble::kernels {
namespace {

template <AvgPoolSignature kSignature>
void run_average(const Call& call) {
  const Pool pool = bind_stock_avg_pool<kSignature>(call);
  if (!run_packed_pool<mve::average_windows>(pool)) average_pool(pool);
}

template <StockSignature kSignature>
void run_maximum(const Call& call) {
  const Pool pool = bind_stock_max_pool<kSignature>(call);
  const bool bounded = pool.min != -128 || pool.max != 127;
  if (bounded || !run_packed_pool<mve::maximum_of_windows>(pool)) maximum_pool(pool);
}

}  // namespace

THIMBLE_DEFINE_KERNEL(mve, cortex_m_quantized_avg_pool2d,
                      check_stock_avg_pool<AvgPoolSignature::kCurrent>,
                      run_average<AvgPoolSignature::kCurrent>);
THIMBLE_DEFINE_KERNEL(mve, cortex_m_quantized_avg_pool2d_nhwc,
                      check_stock_avg_pool<AvgPoolSignature::kNhwc>,
                      run_average<AvgPoolSignature::kNhwc>);
THIMBLE_DEFINE_KERNEL(mve, cortex_m_quantized_max_pool2d,
                      check_stock_max_pool<StockSignature::kCurrent>,
                      run_maximum<StockSignature::kCurrent>);
THIMBLE_DEFINE_KERNEL(mve, cortex_m_quantized_max_pool2d_nhwc,
                      check_stock_max_pool<StockSignature::kNhwc>,
                      run_maximum<StockSignature::kNhwc>);

}  // namespace thimble::kernels
#endif
