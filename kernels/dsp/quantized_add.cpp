// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_add with one instruction for the rounded high half of a product. The portable
// body runs additions that are not an AddFlat (kernels/args/stock_add.h).

#include "abi/ops/stock.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_DSP
#include "kernels/args/elementwise.h"
#include "kernels/args/stock_add.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/elementwise_rows.h"

namespace thimble::kernels {
namespace {

struct HighProduct {
  static int32_t high(int32_t a, int32_t b) {
    int32_t product;
    __asm__("smmulr %0, %1, %2" : "=r"(product) : "r"(a), "r"(b));
    return product;
  }
};

void run(const Call& call) {
  Binary binary = bind_binary(tensor(call, 0), tensor(call, 4), tensor(call, 13));
  const abi::AddParams params = stock_add_params(call, true);
  if (!add_flat_rows<HighProduct>(binary, params)) add_rows(binary, params);
}

}  // namespace

THIMBLE_DEFINE_KERNEL(dsp, cortex_m_quantized_add, check_stock_add<true>, run);

}  // namespace thimble::kernels
#endif
