#pragma once
// Operands of gru, lstm and rnn on codes of int8 or of int16: x, the states before the first step,
// w_ih, w_hh, biases, mult, shift, table, attributes as words, scratch, y.

#include <cstdint>

#include "abi/native_params.h"
#include "kernels/args/operands.h"
#include "numerics/recurrent.h"

namespace thimble::kernels {

/// What differs between the three.
struct RecurrentForm {
  uint32_t states;  // operands behind x
  uint32_t biases;  // operands behind w_hh
  int32_t gates;
  int32_t lanes;        // of scratch, abi/native_params.h
  uint32_t words;       // attributes
  uint32_t reverse_at;  // the word of that attribute
  uint32_t x_zp_at;     // h_zp, h_mult and h_shift follow

  constexpr uint32_t w_ih() const { return 1 + states; }
  constexpr uint32_t mult() const { return w_ih() + 2 + biases; }
  constexpr uint32_t attributes() const { return mult() + 3; }
  constexpr uint32_t scratch() const { return attributes() + 1; }
  constexpr uint32_t y() const { return scratch() + 1; }
};
inline constexpr RecurrentForm kGruForm{1, 2, 3, abi::kGruLanes, 8, 0, 1};
inline constexpr RecurrentForm kLstmForm{2, 1, 4, abi::kLstmLanes, 13, 0, 2};
inline constexpr RecurrentForm kRnnForm{1, 1, 1, abi::kRnnLanes, 6, 1, 2};

/// x and h0 have one code. All but the result's element type, the states behind h0, and what only
/// one form has.
Status check_recurrent(const Call& call, const RecurrentForm& form);

/// A value in the code in which it leaves the layer.
template <class Code>
Code leaving_code(int32_t value, int32_t mult, int32_t shift, int32_t zero_point) {
  constexpr int32_t kLimit = 1 << (8 * sizeof(Code) - 1);
  const int32_t scaled = numerics::requantize(value, mult, shift);
  return static_cast<Code>(
      numerics::clamp(numerics::wrap_add(scaled, zero_point), -kLimit, kLimit - 1));
}

struct Recurrent {
  const void *x, *h0;
  const int8_t *w_ih, *w_hh;
  const int32_t *bias, *bias_hh;  // the second null where there is one
  const int32_t *mult, *shift;    // `entries` for w_ih, then as many for w_hh
  const int16_t* table;
  const int32_t* words;
  int32_t steps, batch, inputs, hidden, rows;
  int32_t entries, rows_per_entry;
  int32_t x_offset, h_zp, h_mult, h_shift;
  bool reverse;
  int16_t* lanes;
  void* h;  // what the gates read: the output of the step before

  /// Places of step `i` in time: a row of x and of the result, for this element of the batch.
  int32_t row(int32_t i, int32_t b) const { return (reverse ? steps - 1 - i : i) * batch + b; }
  template <class Code>
  const Code* x_row(int32_t at) const {
    return static_cast<const Code*>(x) + at * inputs;
  }
  template <class Code>
  Code* state() const {
    return static_cast<Code*>(h);
  }
  /// The state before the first step; returns where it is kept.
  template <class Code>
  Code* begin(int32_t b) const {
    memcpy(h, static_cast<const Code*>(h0) + b * hidden, state_bytes<Code>());
    return state<Code>();
  }
  template <class Code>
  size_t state_bytes() const {
    return static_cast<size_t>(hidden) * sizeof(Code);
  }
  template <class Code>
  Code output(int32_t value) const {
    return leaving_code<Code>(value, h_mult, h_shift, h_zp);
  }
};
Recurrent bind_recurrent(const Call& call, const RecurrentForm& form);

}  // namespace thimble::kernels
