// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_linear with the weights in the order of the file. The portable body runs
// layers with fewer than four channels or with a shift to the left.

#include "abi/ops/stock.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include "kernels/args/linear.h"
#include "kernels/define_kernel.h"
#include "kernels/mve/unpacked_layer.h"
#include "kernels/mve/unpacked_rows.h"
#include "kernels/portable/convolve.h"

namespace thimble::kernels {
namespace {

void run(const Call& call) {
  const Linear linear = bind_stock_linear(call);
  if (linear.out >= 4 && mve::shifts_supported(linear.requant, linear.out)) {
    mve::multiply_unpacked_rows(linear);
  } else {
    multiply_rows(linear);
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(mve, cortex_m_quantized_linear, check_stock_linear, run);

}  // namespace thimble::kernels
#endif
