// SPDX-License-Identifier: Apache-2.0
#pragma once
// The multiply-accumulate loops of convolutions, linear and recurrent layers with 16-bit
// activations and 8-bit weights. A build contains one implementation: dot16.cpp of this folder, of
// dsp/ or of mve/. All sums are exact.

#include <cstdint>

#include "kernels/args/requant16.h"

namespace thimble::kernels {

/// Rows of a window: in each of them, `length` elements of x and of the weights of a channel are
/// neighbors.
struct Rows16 {
  const int16_t* x;
  const int8_t* w;  // of the first channel
  int32_t filter;   // from channel to channel in w
  int32_t rows;
  int32_t x_row, w_row;  // from row to row
  int32_t length;
};
/// total[k] += sum over r and i of x[r * x_row + i] * w[k * filter + r * w_row + i].
void accumulate16(const Rows16& rows, int64_t (&total)[4]);
void accumulate16(const Rows16& rows, int64_t (&total)[1]);

/// Computes 4 * `blocks` neighboring channels, from `channel` at rows.w, to y. Every sum of
/// products with its bias has 32 bits, and rows.length is positive.
void multiply16_narrow(Rows16 rows, const Requant16& requant, int32_t channel, int32_t blocks,
                       int16_t* y);
/// Requantizes sum[0] to sum[3] of four channels, plus their biases, to y[0] to y[3]. Every result
/// of the addition has 32 bits.
void finish16_narrow(const Requant16& requant, const int32_t* sum, int32_t channel, int16_t* y);

/// A sum of this many terms is below 2^31: 256 * 2^15 * 2^7 = 2^30.
inline constexpr int32_t kTerms16Max = 256;
/// The window of neighboring channels of a depthwise convolution.
struct DepthwiseRows16 {
  const int16_t* x;  // the first channel of the first tap
  const int8_t* w;   // the first tap of the first channel
  int32_t filter;    // from channel to channel in w, at most kTerms16Max
  int32_t rows;
  int32_t x_row, w_row;  // from row to row
  int32_t taps;          // of a row
  int32_t x_tap;         // from tap to tap in x; in w they are neighbors
};
inline constexpr int32_t kDepthwise16Channels = 8;
/// sum[c] = sum over r and t of x[r * x_row + t * x_tap + c] * w[c * filter + r * w_row + t], for
/// `channels` of 1 to 8 channels and at most kTerms16Max terms.
void multiply_depthwise16(const DepthwiseRows16& rows, int32_t channels,
                          int32_t (&sum)[kDepthwise16Channels]);

}  // namespace thimble::kernels
