// SPDX-License-Identifier: Apache-2.0
// add: cortex_m::quantized_add and thimble::add (with b_negate: subtraction); operands:
// kernels/args/elementwise.cpp; formula: docs/numerics.md, "Addition, subtraction, multiplication".
//
// In place: y may be a (or b), if that operand has y's shape and dim_order. Each element is read
// before the output at the same position is written.

#include "abi/ops/arithmetic.h"
#include "abi/ops/stock.h"
#include "abi/params/arithmetic.h"
#include "kernels/args/elementwise.h"
#include "kernels/args/stock_add.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/elementwise_rows.h"

namespace thimble::kernels {
namespace {

using numerics::requantize;

int32_t scale_in(int32_t value, int32_t mult, int32_t shift) {
  return requantize(value * (1 << 20), mult, shift);
}

int8_t add(int32_t a, int32_t b, const abi::AddParams& p) {
  const int32_t b_value = p.b_negate != 0 ? -(b + p.b_offset) : b + p.b_offset;
  const int32_t sum = numerics::wrap_add(scale_in(a + p.a_offset, p.a_mult, p.a_shift),
                                         scale_in(b_value, p.b_mult, p.b_shift));
  const int32_t y = numerics::wrap_add(requantize(sum, p.y_mult, p.y_shift), p.y_offset);
  return static_cast<int8_t>(numerics::clamp(y, p.min, p.max));
}

}  // namespace

void add_rows(Binary& binary, const abi::AddParams& params) {
  StrideIterator& iterator = binary.iterator;
  do {
    const StrideIterator::Axis& row = iterator.row();
    int8_t* y = binary.y + iterator.offset[0];
    const int8_t* a = binary.a + iterator.offset[1];
    const int8_t* b = binary.b + iterator.offset[2];
    for (int32_t i = 0; i < row.extent; ++i) {
      y[i] = add(a[i * row.step[1]], b[i * row.step[2]], params);
    }
  } while (iterator.next());
}

namespace {

struct LongProduct {
  static int32_t high(int32_t a, int32_t b) { return numerics::rounded_high(a, b); }
};

template <bool kLimits>
void run_stock(const Call& call) {
  Binary binary = bind_binary(tensor(call, 0), tensor(call, 4), tensor(call, kLimits ? 13 : 11));
  const abi::AddParams params = stock_add_params(call, kLimits);
  if (!add_flat_rows<LongProduct>(binary, params)) add_rows(binary, params);
}

Status check_native(const Call& call) {
  THIMBLE_RETURN_IF_ERROR(check_binary(tensor(call, 0), tensor(call, 1), tensor(call, 3)));
  const Status b = check_blob(tensor(call, 2), sizeof(abi::ParamsOf<abi::op_info::thimble_add>));
  return b != Status::kOk ? b : check_add(read_params<abi::op_info::thimble_add>(tensor(call, 2)));
}

void run_native(const Call& call) {
  Binary binary = bind_binary(tensor(call, 0), tensor(call, 1), tensor(call, 3));
  add_rows(binary, read_params<abi::op_info::thimble_add>(tensor(call, 2)));
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, cortex_m_quantized_add, check_stock_add<true>, run_stock<true>);
THIMBLE_DEFINE_KERNEL(portable, cortex_m_quantized_add_12, check_stock_add<false>,
                      run_stock<false>);
THIMBLE_DEFINE_KERNEL(portable, thimble_add, check_native, run_native);

}  // namespace thimble::kernels
