// SPDX-License-Identifier: Apache-2.0
// cortex_m::softmax, over any dimension that is innermost in memory; formula: numerics/softmax.h;
// operands: kernels/args/stock_softmax.h. In place: y may be x.

#include "abi/ops/stock.h"
#include "kernels/args/stock_softmax.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

void run(const Call& call) {
  for_each_softmax_row(call, [](const numerics::Softmax& softmax, const int8_t* x, int32_t count,
                                int8_t* y) { softmax.row(x, count, y); });
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, cortex_m_softmax, check_stock_softmax, run);

}  // namespace thimble::kernels
