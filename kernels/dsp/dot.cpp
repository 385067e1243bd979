// SPDX-License-Identifier: Apache-2.0
// The loops of kernels/portable/dot.h with the DSP extension. Four int8 values of x are widened to
// two pairs of int16 including the offset; four rows share them. Each multiplication computes two
// products. Cores with Helium use kernels/mve/dot.cpp instead.

#include "kernels/isa.h"

#if THIMBLE_HAS_DSP && !THIMBLE_HAS_MVE

#include <string.h>

#include "kernels/dsp/dot_row.h"
#include "kernels/portable/dot.h"

namespace thimble::kernels {
namespace {

uint32_t four_codes(const int8_t* from) {
  uint32_t word;
  memcpy(&word, from, sizeof word);
  return word;
}

struct Pairs {
  uint32_t even, odd;
};
Pairs plus(uint32_t codes, uint32_t offsets) {
  Pairs pairs;
  asm("sxtab16 %0, %1, %2" : "=r"(pairs.even) : "r"(offsets), "r"(codes));
  asm("sxtab16 %0, %1, %2, ror #8" : "=r"(pairs.odd) : "r"(offsets), "r"(codes));
  return pairs;
}

uint32_t dot(const Pairs& x, const int8_t* w, uint32_t sum) {
  const uint32_t codes = four_codes(w);
  uint32_t pair;
  asm("sxtb16 %0, %1" : "=r"(pair) : "r"(codes));
  asm("smlad %0, %1, %2, %0" : "+r"(sum) : "r"(x.even), "r"(pair));
  asm("sxtb16 %0, %1, ror #8" : "=r"(pair) : "r"(codes));
  asm("smlad %0, %1, %2, %0" : "+r"(sum) : "r"(x.odd), "r"(pair));
  return sum;
}

uint32_t twice(int32_t offset) {
  return (static_cast<uint32_t>(offset) & 0xFFFF) * 0x00010001U;
}

uint32_t product(int32_t x, int32_t w) {
  return static_cast<uint32_t>(x * w);
}

}  // namespace

[[gnu::noinline]] void accumulate(const int8_t* x, const int8_t* w, int32_t w_step, int32_t n,
                                  int32_t x_offset, uint32_t (&acc)[4]) {
  uint32_t sum0 = acc[0], sum1 = acc[1], sum2 = acc[2], sum3 = acc[3];
  // The second and the fourth row are w_step bytes after these two: fewer registers.
  const int8_t* w2 = w + 2 * w_step;
  const uint32_t offsets = twice(x_offset);
  const int8_t* const end = x + n;
  const int8_t* const fours = x + (n & ~3);
  if (x != fours) {
    uint32_t even, odd, codes, pair;
    // clang-format off
    asm volatile(
        "1:\n"
        "ldr %[codes], [%[x]], #4\n"
        "sxtab16 %[even], %[offsets], %[codes]\n"
        "sxtab16 %[odd], %[offsets], %[codes], ror #8\n"
        THIMBLE_DOT("[%[w0], %[step]]", "%[sum1]")
        THIMBLE_DOT("[%[w0]], #4", "%[sum0]")
        THIMBLE_DOT("[%[w2], %[step]]", "%[sum3]")
        THIMBLE_DOT("[%[w2]], #4", "%[sum2]")
        "ldr %[codes], %[fours]\n"
        "cmp %[x], %[codes]\n"
        "bne 1b\n"
        : [x] "+r"(x), [w0] "+r"(w), [w2] "+r"(w2), [sum0] "+r"(sum0), [sum1] "+r"(sum1),
          [sum2] "+r"(sum2), [sum3] "+r"(sum3), [even] "=&r"(even), [odd] "=&r"(odd),
          [codes] "=&r"(codes), [pair] "=&r"(pair)
        : [offsets] "r"(offsets), [step] "r"(w_step), [fours] "m"(fours)
        : "cc", "memory");
    // clang-format on
  }
  for (; x != end; ++w, ++w2) {
    const int32_t value = *x++ + x_offset;
    sum0 += product(value, *w);
    sum1 += product(value, w[w_step]);
    sum2 += product(value, *w2);
    sum3 += product(value, w2[w_step]);
  }
  acc[0] = sum0;
  acc[1] = sum1;
  acc[2] = sum2;
  acc[3] = sum3;
}

[[gnu::noinline]] void accumulate(const int8_t* x, const int8_t* w, int32_t, int32_t n,
                                  int32_t x_offset, uint32_t (&acc)[1]) {
  uint32_t sum = acc[0];
  const uint32_t offsets = twice(x_offset);
  const int8_t* const end = x + n;
  for (const int8_t* const fours = x + (n & ~3); x != fours; x += 4, w += 4) {
    sum = dot(plus(four_codes(x), offsets), w, sum);
  }
  while (x != end) sum += product(*x++ + x_offset, *w++);
  acc[0] = sum;
}

}  // namespace thimble::kernels

#endif
