// SPDX-License-Identifier: Apache-2.0
#pragma once
// Packed convolutions and linear layers of cores without DSP instructions (abi/matmul_scalar.h):
// their checks, and the code that v7m and v6m share. This code gathers windows; each of the two
// variants supplies dot products in assembly.
//
// All pixels of a block are gathered into scratch before the first byte of the block is written.
// The result may therefore overlap the part of x that has been read. A block may continue in the
// next row of the image.

#include "abi/matmul_scalar.h"
#include "kernels/args/packed.h"

namespace thimble::kernels {

inline const abi::ScalarChannel* scalar_channels(const void* constant) {
  return static_cast<const abi::ScalarChannel*>(constant);
}
/// Returns the weights, which follow `channels` records.
inline const int8_t* scalar_weights(const void* constant, uint32_t channels) {
  return reinterpret_cast<const int8_t*>(scalar_channels(constant) + channels);
}
/// Returns the quantized result of a sum. Records of a malicious file give any int8 value.
inline int8_t scalar_code(const abi::ScalarChannel& channel, int32_t acc, int32_t min,
                          int32_t max) {
  const int32_t c = numerics::high_mult(acc, channel.mult);
  const int32_t rounded = numerics::wrap_add(numerics::wrap_add(c, c < 0 ? -1 : 0), channel.round);
  return static_cast<int8_t>(numerics::clamp(rounded >> (channel.shift & 31), min, max));
}
/// Returns true if a linear layer has blocks of four outputs.
inline bool has_blocks(const void* constant) {
  return (scalar_channels(constant)->shift & abi::kScalarBlocks) != 0;
}
/// One result of a linear layer with blocks, computed weight by weight.
int8_t scalar_block_result(const abi::LinearGeometry& g, const void* constant, uint32_t output,
                           const int8_t* x);
/// Limits results to the bounds; does nothing if they are those of int8.
void clamp_results(int8_t* y, uint32_t count, int32_t min, int32_t max);
inline uint32_t scalar_row(uint32_t weights) {
  return (weights + 3) & ~3U;
}

Status check_conv2d_scalar(const Call& call);
/// As check_conv2d_scalar(), with scratch for the interleaved words of two pixels.
Status check_conv2d_scalar_pairs(const Call& call);
Status check_depthwise_scalar(const Call& call);
Status check_linear_scalar(const Call& call);
/// As check_linear_scalar(), for kernels that read rows only.
Status check_linear_scalar_rows(const Call& call);

/// Dot products of rows of x with rows of weights, requantized to int8. The assembly uses the
/// offsets of the members and modifies them.
struct ScalarDot {
  const int8_t* x;
  uint32_t x_stride;  // distance between rows of x
  const int8_t* w;
  uint32_t w_stride;
  uint32_t length;  // number of products
  const abi::ScalarChannel* channels;
  int8_t* y;
  uint32_t y_stride;
  uint32_t count;  // number of channels
};
using ScalarDotProducts = void(ScalarDot* dot);

/// Interleaves the bytes of two rows: each word is a plus 2^16 times b. After each two words, `gap`
/// bytes are left out.
using ScalarInterleave = void(void* words, const int8_t* a, const int8_t* b, uint32_t length,
                              uint32_t gap);

/// The functions that a variant supplies. `block` computes `pixels` rows at once; length is a
/// multiple of 4. Without `interleave`, `block` requires a count of at least 2 and may write all
/// results except the first twice. With `interleave`, it reads two rows as words, and `quad` four
/// rows: two words of the first two rows, then two words of the other two rows. `single` computes
/// one row of any length.
struct ScalarDotFunctions {
  uint32_t pixels;
  ScalarDotProducts* block;
  ScalarDotProducts* single;
  ScalarInterleave* interleave;
  ScalarDotProducts* quad;
};

/// One pixel of a depthwise convolution: sums over all taps of x[tap][channel] * w[tap][channel].
struct ScalarTaps {
  const int8_t* x;
  uint32_t x_row;  // distance between rows of taps, for 3x3 windows
  const int8_t* w;
  uint32_t taps;
  const abi::ScalarChannel* channels;
  int8_t* y;
  uint32_t count;  // number of channels
};
using ScalarTapProducts = void(ScalarTaps* taps);

/// The functions that a variant supplies: `any` for windows that are gathered tap by tap, `nine`
/// for 3x3 windows, and optionally `pair` or `quad`. They compute two and four neighbouring pixels
/// whose 3x3 windows are one column apart, and read rows of taps directly from x, as does `nine` if
/// `pair` exists.
struct ScalarTapFunctions {
  ScalarTapProducts* any;
  ScalarTapProducts* nine;
  ScalarTapProducts* pair;
  ScalarTapProducts* quad;
};

void run_conv2d_scalar(const ScalarDotFunctions& core, void* const* operands);
/// As run_conv2d_scalar(), for conv2d_scalar_int4 with scratch for unpacked weights. Four channels
/// are unpacked for each block of pixels.
void run_conv2d_scalar_int4(const ScalarDotFunctions& core, void* const* operands);
void run_depthwise_scalar(const ScalarTapFunctions& core, void* const* operands);
void run_linear_scalar(const ScalarDotFunctions& core, void* const* operands);

}  // namespace thimble::kernels
