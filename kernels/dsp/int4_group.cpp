// SPDX-License-Identifier: Apache-2.0
// conv2d_int4_group and linear_int4_group on the DSP extension. A group of 32 values of x takes 8
// steps of the loop of int4_linear_blocks.cpp; then the sums are multiplied by the factors.

#include "abi/ops/conv.h"
#include "abi/ops/linear.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_DSP

#include <arm_acle.h>

#include "kernels/define_kernel.h"
#include "kernels/portable/dot_int4.h"
#include "kernels/portable/int4_group.h"

// clang-format off
#define THIMBLE_PAIR(bytes, codes, a, both) \
  "smlad " both ", " codes ", " bytes ", " both "\n" \
  "and " bytes ", " bytes ", #0x000F000F\n" \
  "smlad " a ", " codes ", " bytes ", " a "\n"
#define THIMBLE_FOUR \
  "ldr.w %[odd], [%[x]], #4\n" \
  "ldr.w %[w1], [%[w], #32]\n" \
  "ldr.w %[w0], [%[w]], #4\n" \
  "sxtb16 %[even], %[odd]\n" \
  "sxtb16 %[odd], %[odd], ror #8\n" \
  "sxtb16 %[t0], %[w0]\n" \
  "sxtb16 %[t1], %[w1]\n" \
  "sxtb16 %[w0], %[w0], ror #8\n" \
  "sxtb16 %[w1], %[w1], ror #8\n" \
  THIMBLE_PAIR("%[t0]", "%[even]", "%[low]", "%[both]") \
  THIMBLE_PAIR("%[t1]", "%[even]", "%[low1]", "%[both1]") \
  THIMBLE_PAIR("%[w0]", "%[odd]", "%[low]", "%[both]") \
  THIMBLE_PAIR("%[w1]", "%[odd]", "%[low1]", "%[both1]")
// clang-format on

namespace thimble::kernels {
namespace {

struct DspGroups {
  static int32_t high_mult(int32_t sum, int32_t mult) {
    int32_t result;
    asm("smmulr %0, %1, %2" : "=r"(result) : "r"(numerics::wrap_shl(sum, 1)), "r"(mult));
    return result;
  }
  static int32_t copy_and_sum(int8_t* to, const int8_t* from, uint32_t count) {
    uint32_t sum = 0;
    for (uint32_t k = 0; k < count; k += 4) {
      uint32_t four;
      memcpy(&four, from + k, sizeof four);
      memcpy(to + k, &four, sizeof four);
      sum = __usada8(four ^ 0x80808080U, 0, sum);  // adds four values plus 128
    }
    return static_cast<int32_t>(sum - 128 * count);
  }

  static const uint8_t* sums(const Int4GroupRow& row, const uint8_t* groups, uint32_t (&sums)[4]) {
    const int8_t* x = row.x;
    const int8_t* const end = x + (row.depth & ~(abi::kInt4Group - 1));
    const int32_t* eight_sums = row.eight_sums;
    while (x != end) {
      uint32_t low = 0U - static_cast<uint32_t>(*eight_sums++);
      uint32_t both = low, low1 = low, both1 = low;
      uint32_t even, odd, w0, w1, t0, t1;
      const uint8_t* w = groups + 4;
      // clang-format off
      asm volatile(
          THIMBLE_FOUR THIMBLE_FOUR THIMBLE_FOUR THIMBLE_FOUR
          THIMBLE_FOUR THIMBLE_FOUR THIMBLE_FOUR THIMBLE_FOUR
          : [x] "+r"(x), [w] "+r"(w), [low] "+r"(low), [both] "+r"(both), [low1] "+r"(low1),
            [both1] "+r"(both1), [even] "=&r"(even), [odd] "=&r"(odd), [w0] "=&r"(w0),
            [w1] "=&r"(w1), [t0] "=&r"(t0), [t1] "=&r"(t1)
          :
          : "memory");
      // clang-format on
      // The factors precede the 32 bytes of weights that `w` has passed.
      sums[0] += w[-36] * low;
      sums[1] += w[-35] * int4_high_sum(both, low);
      sums[2] += w[-34] * low1;
      sums[3] += w[-33] * int4_high_sum(both1, low1);
      groups = w + 32;
    }
    return x == row.x + row.depth ? groups : add_last_int4_group(row, groups, sums);
  }
};

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(dsp, thimble_conv2d_int4_group, check_conv2d_int4_group,
                           run_conv2d_int4_group<DspGroups>);
THIMBLE_DEFINE_BARE_KERNEL(dsp, thimble_linear_int4_group, check_linear_int4_group,
                           run_linear_int4_group<DspGroups>);

}  // namespace thimble::kernels

#endif  // THIMBLE_HAS_DSP
