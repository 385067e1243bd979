// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operands of gru, lstm and rnn with int8 or int16 activations: x, the states before the first
// step, w_ih, w_hh, biases, mult, shift, table, parameters, scratch, y. With weights of 4 bits
// (abi/int4.h), activations are int8.

#include <cstdint>

#include "abi/params/recurrent.h"
#include "kernels/args/operands.h"
#include "numerics/recurrent.h"

namespace thimble::kernels {

/// The differences between the signatures of gru, lstm and rnn.
struct RecurrentSignature {
  uint32_t states;  // number of operands after x
  uint32_t biases;  // number of operands after w_hh
  int32_t gates;
  int32_t lanes;  // of the scratch, see abi/params/recurrent.h
  uint32_t params_bytes;
  bool int4 = false;  // weights

  constexpr uint32_t w_ih() const { return 1 + states; }
  constexpr uint32_t mult() const { return w_ih() + 2 + biases; }
  constexpr uint32_t params() const { return mult() + 3; }
  constexpr uint32_t scratch() const { return params() + 1; }
  constexpr uint32_t y() const { return scratch() + 1; }
};
inline constexpr RecurrentSignature kGruSignature{1, 2, 3, abi::kGruLanes, sizeof(abi::GruParams)};
inline constexpr RecurrentSignature kGruInt4Signature{
    1, 2, 3, abi::kGruLanes, sizeof(abi::GruParams), true};
inline constexpr RecurrentSignature kLstmInt4Signature{
    2, 1, 4, abi::kLstmLanes, sizeof(abi::LstmParams), true};
inline constexpr RecurrentSignature kLstmSignature{2, 1, 4, abi::kLstmLanes,
                                                   sizeof(abi::LstmParams)};
inline constexpr RecurrentSignature kRnnSignature{1, 1, 1, abi::kRnnLanes, sizeof(abi::RnnParams)};

/// Checks the operands. x and h0 must have the same type. The checks do not include the element
/// type of the result, the states after h0, and operands that only one of the three layers has.
Status check_recurrent(const Call& call, const RecurrentSignature& form);

/// Requantizes a value to an output of the layer.
template <class Code>
Code requantize_output(int32_t value, int32_t mult, int32_t shift, int32_t zero_point) {
  constexpr int32_t kLimit = 1 << (8 * sizeof(Code) - 1);
  const int32_t scaled = numerics::requantize(value, mult, shift);
  return static_cast<Code>(
      numerics::clamp(numerics::wrap_add(scaled, zero_point), -kLimit, kLimit - 1));
}

struct Recurrent {
  const void *x, *h0;
  const void *w_ih, *w_hh;        // int8 rows, or pairs of rows with 4 bits (abi/int4.h)
  const int32_t *bias, *bias_hh;  // bias_hh is null if there is one bias
  const int32_t* mult;            // `entries` for w_ih, then `entries` for w_hh
  const void* shift;              // likewise: int32, or int8 for weights of 4 bits
  const int16_t* table;
  const void* params;  // a struct that begins with RecurrentParams
  int32_t steps, batch, inputs, hidden, rows;
  int32_t entries, rows_per_entry;
  int32_t x_offset, h_zp, h_mult, h_shift;
  bool reverse;
  int16_t* lanes;
  void* h;  // state that the gates read: the output of the previous step

  /// Returns the row of x and of the result for time step `i` and batch element `b`.
  int32_t row(int32_t i, int32_t b) const { return (reverse ? steps - 1 - i : i) * batch + b; }
  template <class Code>
  const Code* x_row(int32_t at) const {
    return static_cast<const Code*>(x) + at * inputs;
  }
  template <class Code>
  Code* state() const {
    return static_cast<Code*>(h);
  }
  /// Copies the state before the first step to `h` and returns `h`.
  template <class Code>
  Code* begin(int32_t b) const {
    memcpy(h, static_cast<const Code*>(h0) + b * hidden, state_bytes<Code>());
    return state<Code>();
  }
  template <class Code>
  size_t state_bytes() const {
    return static_cast<size_t>(hidden) * sizeof(Code);
  }
  /// Returns a row of int8 weights.
  const int8_t* row_ih(int32_t row) const {
    return static_cast<const int8_t*>(w_ih) + row * inputs;
  }
  const int8_t* row_hh(int32_t row) const {
    return static_cast<const int8_t*>(w_hh) + row * hidden;
  }
  /// Returns the pair of rows that begins with an even row.
  const uint8_t* pair_ih(int32_t row) const {
    return static_cast<const uint8_t*>(w_ih) + row / 2 * inputs;
  }
  const uint8_t* pair_hh(int32_t row) const {
    return static_cast<const uint8_t*>(w_hh) + row / 2 * hidden;
  }
  template <class Code>
  Code output(int32_t value) const {
    return requantize_output<Code>(value, h_mult, h_shift, h_zp);
  }
};
Recurrent bind_recurrent(const Call& call, const RecurrentSignature& form);

}  // namespace thimble::kernels
