// SPDX-License-Identifier: Apache-2.0
// conv2d_mve_int4 and linear_mve_int4 on any core (abi/matmul_mve.h).

#include "abi/ops/conv.h"
#include "abi/ops/linear.h"
#include "kernels/args/matmul_mve.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/int4.h"

namespace thimble::kernels {
namespace {

struct MveWeights {
  const void* packed;
  uint32_t channels, depth;
  int32_t y_zero_point, min, max;

  int8_t* codes(const int8_t* x, int8_t* y) const { return each_code(*this, x, y); }
  /// Sums wrap.
  int8_t code(uint32_t channel, const int8_t* x) const {
    const abi::MatmulQuad& quad = matmul_quads_of(packed)[channel / 4];
    const auto* const pairs =
        reinterpret_cast<const uint8_t*>(matmul_weights_of(packed, abi::matmul_quads(channels)));
    const uint8_t* const own = pairs + abi::matmul_int4_offset(channel, 0, depth);
    const uint32_t lane = channel % 4;
    auto sum = static_cast<uint32_t>(quad.bias[lane]);
    for (uint32_t k = 0; k < depth; ++k) {
      const int32_t weight = lane < 2 ? abi::int4_low(own[k]) : abi::int4_high(own[k]);
      sum += static_cast<uint32_t>(x[k] * weight);
    }
    const int32_t high = numerics::high_mult(static_cast<int32_t>(sum), quad.mult[lane]);
    const int32_t scaled = numerics::rounding_divide_by_pow2(high, -quad.shift[lane] & 31);
    return static_cast<int8_t>(numerics::clamp(numerics::wrap_add(scaled, y_zero_point), min, max));
  }
};

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_conv2d_mve_int4, check_conv2d_mve_int4,
                           run_conv2d_int4<MveWeights>);
THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_linear_mve_int4, check_linear_mve_int4,
                           run_linear_int4<MveWeights>);

}  // namespace thimble::kernels
