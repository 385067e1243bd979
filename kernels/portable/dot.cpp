// SPDX-License-Identifier: Apache-2.0
// These functions are never inlined and are unrolled by hand. Only then does the compiler keep the
// pointers and sums of four rows in the registers of a Cortex-M at -Os. Four rows share one load of
// x and one addition of its offset: 3 instructions per multiplication instead of 6. Cores with the
// DSP extension or Helium have their own functions.

#include "kernels/portable/dot.h"

#include "kernels/isa.h"

#if !THIMBLE_HAS_DSP

namespace thimble::kernels {
namespace {
constexpr uint32_t product(int32_t x, int32_t w) {
  return static_cast<uint32_t>(x * w);
}
}  // namespace

[[gnu::noinline]] void accumulate(const int8_t* x, const int8_t* w, int32_t w_step, int32_t n,
                                  int32_t x_offset, uint32_t (&acc)[4]) {
  uint32_t sum0 = acc[0], sum1 = acc[1], sum2 = acc[2], sum3 = acc[3];
  const int8_t* w1 = w + w_step;
  const int8_t* w2 = w1 + w_step;
  const int8_t* w3 = w2 + w_step;
  const int8_t* const end = x + n;
  while (x != end) {
    const int32_t value = *x++ + x_offset;
    sum0 += product(value, *w++);
    sum1 += product(value, *w1++);
    sum2 += product(value, *w2++);
    sum3 += product(value, *w3++);
  }
  acc[0] = sum0;
  acc[1] = sum1;
  acc[2] = sum2;
  acc[3] = sum3;
}

[[gnu::noinline]] void accumulate(const int8_t* x, const int8_t* w, int32_t, int32_t n,
                                  int32_t x_offset, uint32_t (&acc)[1]) {
  uint32_t sum = acc[0];
  const int8_t* const end = x + n;
  while (x != end) sum += product(*x++ + x_offset, *w++);
  acc[0] = sum;
}

}  // namespace thimble::kernels

#endif
