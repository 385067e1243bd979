#pragma once
// Packed convolutions and linear layers of cores without DSP instructions
// (abi/native_params.h, ScalarChannel): their checks, and what v7m and v6m have in common. Each of
// the two brings dot products in assembly; here windows are gathered for them.
//
// All pixels of a block are gathered into scratch before its first byte is written, so that a
// result may lie over what has been read. Pixels follow each other over the ends of rows.

#include "abi/matmul_scalar.h"
#include "kernels/args/packed.h"

namespace thimble::kernels {

inline const abi::ScalarChannel* scalar_channels(const void* constant) {
  return static_cast<const abi::ScalarChannel*>(constant);
}
/// The weights behind `channels` records.
inline const int8_t* scalar_weights(const void* constant, uint32_t channels) {
  return reinterpret_cast<const int8_t*>(scalar_channels(constant) + channels);
}
/// The result of a sum; of records that no compiler wrote, any.
inline int8_t scalar_code(const abi::ScalarChannel& channel, int32_t acc, int32_t min,
                          int32_t max) {
  const int32_t c = numerics::high_mult(acc, channel.mult);
  const int32_t rounded = numerics::wrap_add(numerics::wrap_add(c, c < 0 ? -1 : 0), channel.round);
  return static_cast<int8_t>(numerics::clamp(rounded >> (channel.shift & 31), min, max));
}
inline uint32_t scalar_row(uint32_t weights) {
  return (weights + 3) & ~3U;
}

Status check_conv2d_scalar(const Call& call);
/// With scratch for words of two pixels.
Status check_conv2d_scalar_pairs(const Call& call);
Status check_depthwise_scalar(const Call& call);
Status check_linear_scalar(const Call& call);

/// Dot products of rows of x with rows of weights, requantized to int8. The assembly knows the
/// order of the members; it changes them as it goes.
struct ScalarDot {
  const int8_t* x;
  uint32_t x_stride;  // from one row of x to the next
  const int8_t* w;
  uint32_t w_stride;
  uint32_t length;  // of the products
  const abi::ScalarChannel* channels;
  int8_t* y;
  uint32_t y_stride;
  uint32_t count;  // of channels
};
using ScalarDotProducts = void(ScalarDot* dot);

/// Bytes of two rows to words: a plus 2^16 times b.
using ScalarInterleave = void(void* words, const int8_t* a, const int8_t* b, uint32_t length);

/// What a core brings. `block` makes `pixels` rows at once, with length a multiple of 4; without
/// `interleave` it wants a count of at least 2, and may write all results but the first twice; with
/// it, it reads two rows as words. `single` makes one row of any length.
struct ScalarCore {
  uint32_t pixels;
  ScalarDotProducts* block;
  ScalarDotProducts* single;
  ScalarInterleave* interleave;
};

/// One pixel of a depthwise convolution: sums over taps of x[tap][channel] * w[tap][channel].
struct ScalarTaps {
  const int8_t* x;
  uint32_t x_row;  // from one row of taps to the next, where they are three
  const int8_t* w;
  uint32_t taps;
  const abi::ScalarChannel* channels;
  int8_t* y;
  uint32_t count;  // of channels
};
using ScalarTapProducts = void(ScalarTaps* taps);

/// What a core brings for windows that are gathered tap by tap, and for those of 3x3 taps. With
/// `pair`, which makes two pixels side by side whose windows are one column apart, these two take
/// rows of taps from where they lie.
struct ScalarTapCore {
  ScalarTapProducts* any;
  ScalarTapProducts* nine;
  ScalarTapProducts* pair;
};

void run_conv2d_scalar(const ScalarCore& core, void* const* operands);
void run_depthwise_scalar(const ScalarTapCore& core, void* const* operands);
void run_linear_scalar(const ScalarCore& core, void* const* operands);

}  // namespace thimble::kernels
