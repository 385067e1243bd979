// SPDX-License-Identifier: Apache-2.0
// mul: cortex_m::quantized_mul and thimble::mul; operands: kernels/args/elementwise.cpp; formula:
// docs/numerics.md, "Addition, subtraction, multiplication".
//
// In place: y may be a (or b), if that operand has y's shape and dim_order. Each element is read
// before the output at the same position is written.

#include "abi/ops/arithmetic.h"
#include "abi/ops/stock.h"
#include "abi/params/arithmetic.h"
#include "kernels/args/elementwise.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/elementwise_rows.h"

namespace thimble::kernels {
namespace {

int8_t mul(int32_t a, int32_t b, const abi::MulParams& p) {
  const int32_t scaled = numerics::requantize((a + p.a_offset) * (b + p.b_offset), p.mult, p.shift);
  return static_cast<int8_t>(numerics::clamp(numerics::wrap_add(scaled, p.y_offset), p.min, p.max));
}

}  // namespace

void mul_rows(Binary& binary, const abi::MulParams& params) {
  StrideIterator& iterator = binary.iterator;
  do {
    const StrideIterator::Axis& row = iterator.row();
    int8_t* y = binary.y + iterator.offset[0];
    const int8_t* a = binary.a + iterator.offset[1];
    const int8_t* b = binary.b + iterator.offset[2];
    for (int32_t i = 0; i < row.extent; ++i) {
      y[i] = mul(a[i * row.step[1]], b[i * row.step[2]], params);
    }
  } while (iterator.next());
}

namespace {

void run_stock(const Call& call) {
  Binary binary = bind_binary(tensor(call, 0), tensor(call, 2), tensor(call, 7));
  mul_rows(binary, stock_mul_params(call));
}

Status check_native(const Call& call) {
  THIMBLE_RETURN_IF_ERROR(check_binary(tensor(call, 0), tensor(call, 1), tensor(call, 3)));
  const Status b = check_blob(tensor(call, 2), sizeof(abi::ParamsOf<abi::op_info::thimble_mul>));
  return b != Status::kOk ? b : check_mul(read_params<abi::op_info::thimble_mul>(tensor(call, 2)));
}

void run_native(const Call& call) {
  Binary binary = bind_binary(tensor(call, 0), tensor(call, 1), tensor(call, 3));
  mul_rows(binary, read_params<abi::op_info::thimble_mul>(tensor(call, 2)));
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, cortex_m_quantized_mul, check_stock_mul, run_stock);
THIMBLE_DEFINE_KERNEL(portable, thimble_mul, check_native, run_native);

}  // namespace thimble::kernels
