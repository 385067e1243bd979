// SPDX-License-Identifier: Apache-2.0
#pragma once
// The loops over the rows of a window, which the implementations of dot16.h share. They differ in
// add_four(x, w, filter, n, sums), which adds at most kTerms16Max products of four channels to
// 32-bit sums.

#include "kernels/portable/dot16.h"

namespace thimble::kernels {

/// Calls piece(x, w, n) for pieces of a row of at most kTerms16Max terms.
template <class Piece>
inline void for_each_piece16(const Rows16& rows, Piece piece) {
  for (int32_t row = 0; row < rows.rows; ++row) {
    const int16_t* x = rows.x + row * rows.x_row;
    const int8_t* w = rows.w + row * rows.w_row;
    for (int32_t left = rows.length; left > 0; left -= kTerms16Max) {
      piece(x, w, left < kTerms16Max ? left : kTerms16Max);
      x += kTerms16Max;
      w += kTerms16Max;
    }
  }
}

/// accumulate16() of four channels.
template <class AddFour>
inline void accumulate_four16(const Rows16& rows, int64_t (&total)[4], AddFour add_four) {
  for_each_piece16(rows, [&](const int16_t* x, const int8_t* w, int32_t n) {
    int32_t sums[4] = {};
    add_four(x, w, rows.filter, n, sums);
    for (int32_t k = 0; k < 4; ++k) total[k] += sums[k];
  });
}

/// finish16_narrow() without vectors.
inline void finish_four16(const Requant16& requant, const int32_t* sum, int32_t channel,
                          int16_t* y) {
  for (int32_t k = 0; k < 4; ++k) {
    y[k] = requant.finish_narrow(sum[k] + requant.narrow_start(channel + k), channel + k);
  }
}

/// multiply16_narrow(); finish(sums, channel, y) requantizes the sums of four channels.
template <class AddFour, class Finish>
inline void multiply_blocks16(Rows16 rows, int32_t channel, int32_t blocks, int16_t* y,
                              AddFour add_four, Finish finish) {
  for (; blocks > 0; --blocks) {
    int32_t sums[4] = {};
    const int16_t* x = rows.x;
    const int8_t* w = rows.w;
    for (int32_t row = rows.rows; row > 0; --row) {
      add_four(x, w, rows.filter, rows.length, sums);
      x += rows.x_row;
      w += rows.w_row;
    }
    finish(sums, channel, y);
    rows.w += 4 * rows.filter;
    channel += 4;
    y += 4;
  }
}

}  // namespace thimble::kernels
