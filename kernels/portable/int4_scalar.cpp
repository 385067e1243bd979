// SPDX-License-Identifier: Apache-2.0
#include "kernels/portable/int4_scalar.h"

#include "abi/ops/conv.h"
#include "abi/ops/linear.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

/// Adds the products with the two weights of a byte.
inline void add_int4_products(int32_t x, uint32_t byte, uint32_t& low, uint32_t& high) {
  low += static_cast<uint32_t>(x * (static_cast<int32_t>(byte << 28) >> 28));
  high += static_cast<uint32_t>(x * (static_cast<int32_t>(byte << 24) >> 28));
}

}  // namespace

[[gnu::noinline]] void multiply_int4_rows(const int8_t* x, const uint8_t* pairs, uint32_t step,
                                          uint32_t depth, uint32_t (&sums)[4]) {
  uint32_t low = 0, high = 0, low1 = 0, high1 = 0;
  const uint8_t* second = pairs + step;
  for (const int8_t* const end = x + depth; x != end; ++x) {
    add_int4_products(*x, *pairs++, low, high);
    add_int4_products(*x, *second++, low1, high1);
  }
  sums[0] = low;
  sums[1] = high;
  sums[2] = low1;
  sums[3] = high1;
}

THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_conv2d_scalar_int4, check_conv2d_scalar_int4,
                           run_conv2d_int4<ScalarWeights>);
THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_linear_scalar_int4, check_linear_scalar_int4,
                           run_linear_int4<ScalarWeights>);

}  // namespace thimble::kernels
