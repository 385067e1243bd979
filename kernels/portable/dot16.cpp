// SPDX-License-Identifier: Apache-2.0
// Cores with the DSP extension or Helium have their own functions.

#include "kernels/portable/dot16_rows.h"

#include "kernels/isa.h"

namespace thimble::kernels {

#if !THIMBLE_HAS_DSP
namespace {

inline void add_four(const int16_t* x, const int8_t* w, int32_t filter, int32_t n,
                     int32_t (&sums)[4]) {
  int32_t sum0 = sums[0], sum1 = sums[1], sum2 = sums[2], sum3 = sums[3];
  const int8_t* w1 = w + filter;
  const int8_t* w2 = w1 + filter;
  const int8_t* w3 = w2 + filter;
  const int16_t* const end = x + n;
  while (x != end) {
    const int32_t value = *x++;
    sum0 += value * *w++;
    sum1 += value * *w1++;
    sum2 += value * *w2++;
    sum3 += value * *w3++;
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
                      finish16_narrow(requant, sums, o, out);
                    });
}

void finish16_narrow(const Requant16& requant, const int32_t* sum, int32_t channel, int16_t* y) {
  finish_four16(requant, sum, channel, y);
}

void multiply_depthwise16(const DepthwiseRows16& rows, int32_t channels,
                          int32_t (&sum)[kDepthwise16Channels]) {
  for (int32_t c = 0; c < channels; ++c) {
    const int16_t* x_row = rows.x + c;
    const int8_t* w_row = rows.w + c * rows.filter;
    int32_t products = 0;
    for (int32_t row = rows.rows; row > 0; --row) {
      const int16_t* x = x_row;
      const int8_t* const end = w_row + rows.taps;
      for (const int8_t* w = w_row; w != end; x += rows.x_tap) products += *x * *w++;
      x_row += rows.x_row;
      w_row += rows.w_row;
    }
    sum[c] = products;
  }
}
#endif

}  // namespace thimble::kernels
