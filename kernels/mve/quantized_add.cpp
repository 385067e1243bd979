// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_add and cortex_m::quantized_mul with the loops of add_flat and mul_nest.
// The portable body runs additions that are not an AddFlat (kernels/args/stock_add.h).

#include "abi/ops/stock.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include "kernels/args/elementwise.h"
#include "kernels/args/stock_add.h"
#include "kernels/define_kernel.h"
#include "kernels/mve/elementwise.h"
#include "kernels/portable/elementwise_rows.h"

namespace thimble::kernels {
namespace {

bool add_contiguous(Binary& binary, const abi::AddParams& params) {
  abi::AddFlat flat;
  bool swapped;
  if (!set_flat(binary, params, &flat, &swapped)) return false;
  StrideIterator& iterator = binary.iterator;
  do {
    const int8_t* x[2] = {binary.a + iterator.offset[1], binary.b + iterator.offset[2]};
    mve::add(flat, x[swapped ? 1 : 0], x[swapped ? 0 : 1], binary.y + iterator.offset[0]);
  } while (iterator.next());
  return true;
}

void run_add(const Call& call) {
  Binary binary = bind_binary(tensor(call, 0), tensor(call, 4), tensor(call, 13));
  const abi::AddParams params = stock_add_params(call, true);
  if (!add_contiguous(binary, params)) add_rows(binary, params);
}

void run_mul(const Call& call) {
  Binary binary = bind_binary(tensor(call, 0), tensor(call, 2), tensor(call, 7));
  const abi::MulParams params = stock_mul_params(call);
  StrideIterator& iterator = binary.iterator;
  const StrideIterator::Axis& row = iterator.row();
  do {
    mve::mul_row(params, {binary.a + iterator.offset[1], binary.b + iterator.offset[2],
                          binary.y + iterator.offset[0], static_cast<uint32_t>(row.extent),
                          static_cast<uint32_t>(row.step[1]), static_cast<uint32_t>(row.step[2])});
  } while (iterator.next());
}

}  // namespace

THIMBLE_DEFINE_KERNEL(mve, cortex_m_quantized_add, check_stock_add<true>, run_add);
THIMBLE_DEFINE_KERNEL(mve, cortex_m_quantized_mul, check_stock_mul, run_mul);

}  // namespace thimble::kernels
#endif
