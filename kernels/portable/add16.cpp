// SPDX-License-Identifier: Apache-2.0
// thimble::add.i16 and sub16; formula: docs/numerics.md, "16-bit activations".
//
// Operands: a, b, parameters, y; a and b
// broadcast. In place: y may be a (or b), if that operand has y's shape and dim_order.

#include "abi/ops/arithmetic.h"
#include "abi/params/arithmetic.h"
#include "kernels/args/broadcast.h"
#include "kernels/args/int16_elementwise.h"
#include "kernels/args/params.h"
#include "kernels/define_kernel.h"
#include "numerics/fixed_point.h"

namespace thimble::kernels {
namespace {

using numerics::requantize;

template <bool kSubtract>
void run(const Call& call) {
  const abi::Add16Params& p = params<abi::op_info::thimble_add16>(tensor(call, 2));
  for_pairs<int16_t, int16_t>(
      tensor(call, 0), tensor(call, 1), tensor(call, 3), [&p](int16_t a, int16_t b) {
        const int32_t left = requantize(a * (1 << 15), p.a_mult, p.a_shift);
        const int32_t right = requantize(b * (1 << 15), p.b_mult, p.b_shift);
        const int32_t sum =
            kSubtract ? numerics::wrap_sub(left, right) : numerics::wrap_add(left, right);
        const int32_t y = requantize(sum, p.y_mult, p.y_shift);
        return static_cast<int16_t>(numerics::clamp(y, p.min, p.max));
      });
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_add16, check_add16, run<false>);
THIMBLE_DEFINE_KERNEL(portable, thimble_sub16, check_add16, run<true>);

}  // namespace thimble::kernels
