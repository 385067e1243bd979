// SPDX-License-Identifier: Apache-2.0
// conv2d_int4_group and linear_int4_group on any core. The products are those of recurrent layers
// with weights of 4 bits (dot_int4.h), 32 values of x at a time.

#include "kernels/portable/int4_group.h"

#include "abi/ops/conv.h"
#include "abi/ops/linear.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/dot_int4.h"

namespace thimble::kernels {
namespace {

const uint8_t* add_group(const Int4GroupRow& row, uint32_t first, uint32_t count,
                         const uint8_t* groups, uint32_t (&sums)[4]) {
  uint32_t products[4];
  const Int4Operand x = {row.x + first, static_cast<int32_t>(count), 0,
                         static_cast<uint32_t>(row.eight_sums[first / abi::kInt4Group])};
  multiply_int4(x, groups + 4, products);
  for (uint32_t c = 0; c < 4; ++c) sums[c] += groups[c] * products[c];
  return groups + 4 + 2 * count;
}

struct PortableGroups {
  static int32_t high_mult(int32_t sum, int32_t mult) { return numerics::high_mult(sum, mult); }
  static int32_t copy_and_sum(int8_t* to, const int8_t* from, uint32_t count) {
    int32_t sum = 0;
    for (uint32_t k = 0; k < count; ++k) {
      to[k] = from[k];
      sum += from[k];
    }
    return sum;
  }
  static const uint8_t* sums(const Int4GroupRow& row, const uint8_t* groups, uint32_t (&sums)[4]) {
    uint32_t first = 0;
    for (; first + abi::kInt4Group <= row.depth; first += abi::kInt4Group) {
      groups = add_group(row, first, abi::kInt4Group, groups, sums);
    }
    return first == row.depth ? groups : add_last_int4_group(row, groups, sums);
  }
};

}  // namespace

const uint8_t* add_last_int4_group(const Int4GroupRow& row, const uint8_t* groups,
                                   uint32_t (&sums)[4]) {
  const uint32_t count = row.depth % abi::kInt4Group;
  return add_group(row, row.depth - count, count, groups, sums);
}

THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_conv2d_int4_group, check_conv2d_int4_group,
                           run_conv2d_int4_group<PortableGroups>);
THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_linear_int4_group, check_linear_int4_group,
                           run_linear_int4_group<PortableGroups>);

}  // namespace thimble::kernels
