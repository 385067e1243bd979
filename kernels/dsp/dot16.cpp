// SPDX-License-Identifier: Apache-2.0
// The loops of kernels/portable/dot16.h with the DSP extension. Four int8 weights are widened to
// two pairs of int16 in the order of x, and each multiplication computes two products. Cores with
// Helium use kernels/mve/dot16.cpp instead.

#include "kernels/isa.h"

#if THIMBLE_HAS_DSP && !THIMBLE_HAS_MVE

#include <string.h>

#include "kernels/dsp/dot_row.h"
#include "kernels/portable/dot16_rows.h"

namespace thimble::kernels {
namespace {

inline void add_four(const int16_t* x, const int8_t* w, int32_t filter, int32_t n,
                     int32_t (&sums)[4]) {
  int32_t sum0 = sums[0], sum1 = sums[1], sum2 = sums[2], sum3 = sums[3];
  // The second channel is at w + filter, the fourth at w2 + filter: fewer registers.
  const int8_t* w2 = w + 2 * filter;
  const int16_t* const end = x + n;
  const int16_t* const fours = x + (n & ~3);
  if (x != fours) {
    uint32_t even, odd, codes, pair;
    // clang-format off
    asm volatile(
        "1:\n"
        "ldr %[odd], [%[x], #4]\n"
        "ldr %[codes], [%[x]], #8\n"
        "pkhbt %[even], %[codes], %[odd], lsl #16\n"
        "pkhtb %[odd], %[odd], %[codes], asr #16\n"
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
        : [step] "r"(filter), [fours] "m"(fours)
        : "cc", "memory");
    // clang-format on
  }
  for (; x != end; ++w, ++w2) {
    const int32_t value = *x++;
    sum0 += value * *w;
    sum1 += value * w[filter];
    sum2 += value * *w2;
    sum3 += value * w2[filter];
  }
  sums[0] = sum0;
  sums[1] = sum1;
  sums[2] = sum2;
  sums[3] = sum3;
}

int32_t sum_of(const int16_t* x, const int8_t* w, int32_t n) {
  int32_t sum = 0;
  const int16_t* const end = x + n;
  while (x != end) sum += *x++ * *w++;
  return sum;
}

}  // namespace

void accumulate16(const Rows16& rows, int64_t (&total)[4]) {
  accumulate_four16(rows, total, add_four);
}

void accumulate16(const Rows16& rows, int64_t (&total)[1]) {
  for_each_piece16(
      rows, [&](const int16_t* x, const int8_t* w, int32_t n) { total[0] += sum_of(x, w, n); });
}

void multiply16_narrow(Rows16 rows, const Requant16& requant, int32_t channel, int32_t blocks,
                       int16_t* y) {
  multiply_blocks16(rows, channel, blocks, y, add_four,
                    [&](const int32_t(&sums)[4], int32_t o, int16_t* out) {
                      finish_four16(requant, sums, o, out);
                    });
}

void finish16_narrow(const Requant16& requant, const int32_t* sum, int32_t channel, int16_t* y) {
  finish_four16(requant, sum, channel, y);
}

/// Two channels at a time: one load of x for both.
void multiply_depthwise16(const DepthwiseRows16& rows, int32_t channels,
                          int32_t (&sum)[kDepthwise16Channels]) {
  int32_t c = 0;
  for (; c + 2 <= channels; c += 2) {
    const int16_t* x_row = rows.x + c;
    const int8_t* w_row = rows.w + c * rows.filter;
    int32_t sum0 = 0, sum1 = 0;
    for (int32_t row = rows.rows; row > 0; --row) {
      const int16_t* x = x_row;
      const int8_t* const end = w_row + rows.taps;
      for (const int8_t* w = w_row; w != end; ++w) {
        int32_t both;
        memcpy(&both, x, sizeof both);
        sum0 += static_cast<int16_t>(both) * *w;
        sum1 += (both >> 16) * w[rows.filter];
        x += rows.x_tap;
      }
      x_row += rows.x_row;
      w_row += rows.w_row;
    }
    sum[c] = sum0;
    sum[c + 1] = sum1;
  }
  if (c == channels) return;
  const int16_t* x = rows.x + c;
  const int8_t* w = rows.w + c * rows.filter;
  int32_t products = 0;
  for (int32_t row = 0; row < rows.rows; ++row) {
    for (int32_t t = 0; t < rows.taps; ++t) {
      products += x[row * rows.x_row + t * rows.x_tap] * w[row * rows.w_row + t];
    }
  }
  sum[c] = products;
}

}  // namespace thimble::kernels

#endif
