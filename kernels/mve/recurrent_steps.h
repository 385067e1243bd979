// SPDX-License-Identifier: Apache-2.0
#pragma once
// The steps of gru and lstm on Helium: four rows of gates and four units at a time. Layers with
// 16-bit activations have the portable steps.

#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include "kernels/portable/recurrent_steps.h"

namespace thimble::kernels::mve {

/// As compute_gates() of kernels/portable/gates.h.
void gates(const Recurrent& layer, const int8_t* x, int32_t split);
/// As compute_gates_int4() of kernels/portable/gates_int4.h.
void gates_int4(const Recurrent& layer, const int8_t* x, int32_t split);
/// Computes the 16-bit cells `c` and the outputs of one step from the gates.
void lstm(const Recurrent& layer, const abi::LstmParams& p, int16_t* c);
/// Computes the 16-bit states `exact`, in units of 2^-bits, and the outputs of one step.
void gru(const Recurrent& layer, int32_t bits, int16_t* exact);

struct Steps {
  static void gates(const Recurrent& layer, const int8_t* x, int32_t split) {
    mve::gates(layer, x, split);
  }
  static void gates(const Recurrent& layer, const int16_t* x, int32_t split) {
    compute_gates(layer, x, split);
  }
  template <class Code>
  static void lstm(const Recurrent& layer, const abi::LstmParams& p, int16_t* c) {
    sizeof(Code) == 1 ? mve::lstm(layer, p, c) : lstm_step<int16_t>(layer, p, c);
  }
  template <class Code>
  static void gru(const Recurrent& layer, int32_t bits, int16_t* exact) {
    sizeof(Code) == 1 ? mve::gru(layer, bits, exact) : gru_step<int16_t>(layer, bits, exact);
  }
};

struct Int4Steps : Steps {
  static void gates(const Recurrent& layer, const int8_t* x, int32_t split) {
    gates_int4(layer, x, split);
  }
};

}  // namespace thimble::kernels::mve

#endif
