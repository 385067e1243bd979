// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parameters and scratch of recurrent layers. Every struct begins with RecurrentParams.

#include <cstddef>
#include <cstdint>

namespace thimble::abi {

struct RecurrentParams {
  int32_t reverse;
  int32_t x_zp, h_zp;
  int32_t h_mult, h_shift;  // from the computed state to h
};
static_assert(sizeof(RecurrentParams) == 20);

struct GruParams {
  int32_t reverse, x_zp, h_zp, h_mult, h_shift;
  int32_t h_bits, h0_mult, h0_shift;  // bits of the 16-bit state; scale from h0 to the state
};
static_assert(sizeof(GruParams) == 32 && offsetof(GruParams, h_bits) == sizeof(RecurrentParams));

struct LstmParams {
  int32_t reverse, x_zp, h_zp, h_mult, h_shift;
  int32_t cell;  // result: 0 the output, 1 the cell quantized to the type of x, 2 the int16 cell
  int32_t c_bits, c0_zp, c0_mult, c0_shift, y_zp, y_mult, y_shift;
};
static_assert(sizeof(LstmParams) == 52 && offsetof(LstmParams, cell) == sizeof(RecurrentParams));

struct RnnParams {
  int32_t reverse, x_zp, h_zp, h_mult, h_shift;
  int32_t relu;
};
static_assert(sizeof(RnnParams) == 24 && offsetof(RnnParams, relu) == sizeof(RecurrentParams));

/// Scratch of gru, lstm and rnn, 2-byte aligned: int16 lanes with one element per hidden unit, then
/// the layer's output, quantized like x. Lanes of gru: gates r and z, the two parts of n, the
/// state. Lanes of lstm: four gates, the cell. Lane of rnn: the sum.
inline constexpr int64_t kGruLanes = 5;
inline constexpr int64_t kLstmLanes = 5;
inline constexpr int64_t kRnnLanes = 1;
constexpr int64_t recurrent_scratch_bytes(int64_t lanes, int64_t hidden, int64_t quantized_bytes) {
  return (2 * lanes + quantized_bytes) * hidden;
}

/// Lanes of the float32 scratch: of lstm.f32 four gates, h and c; of gru.f32 gates r and z, the two
/// parts of n, h; of rnn.f32 the sum, h.
constexpr int32_t kFloatLstmLanes = 6, kFloatGruLanes = 5, kFloatRnnLanes = 2;
constexpr int64_t float_recurrent_scratch_bytes(int64_t lanes, int64_t hidden) {
  return lanes * hidden * int64_t{sizeof(float)};
}

}  // namespace thimble::abi
