// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of gru that all cores share; formulas: docs/numerics.md, "Recurrent layers". `Steps`
// computes gates and states: PortableSteps, or a class of a kernel for some cores.
//
// Operands: x, h0, w_ih, w_hh, b_ih, b_hh, mult, shift, table,
// parameters, scratch, y.

#include "abi/ops/recurrent.h"
#include "kernels/args/params.h"
#include "kernels/args/recurrent.h"

namespace thimble::kernels {

Status check_gru(const Call& call);
/// For weights of 4 bits (abi/int4.h).
Status check_gru_int4(const Call& call);

/// Computes the 16-bit state and the outputs from the gates.
template <class Code>
void gru_step(const Recurrent& layer, int32_t bits, int16_t* exact) {
  const int32_t hidden = layer.hidden;
  for (int32_t j = 0; j < hidden; ++j) {
    const int16_t* const gate = layer.lanes + j;
    const int32_t reset = numerics::sigmoid_q15(layer.table, gate[0]);
    const int32_t keep = numerics::sigmoid_q15(layer.table, gate[hidden]);
    const int32_t past = (reset * gate[3 * hidden] + (1 << 14)) >> 15;
    const int32_t sum = numerics::saturate16(gate[2 * hidden] + past);
    const int32_t fresh = numerics::tanh_q15(layer.table, sum);
    exact[j] = static_cast<int16_t>(numerics::blend(keep, exact[j], (32768 - keep) * fresh, bits));
    layer.state<Code>()[j] = layer.output<Code>(exact[j]);
  }
}

template <class Code, class Steps>
void run_gru_layer(const Call& call) {
  const Recurrent layer = bind_recurrent(call, kGruSignature);
  const abi::GruParams& p = params<abi::op_info::thimble_gru>(layer.params);
  const int32_t hidden = layer.hidden;
  int16_t* const exact = layer.lanes + 4 * hidden;
  Code* const y = static_cast<Code*>(tensor(call, kGruSignature.y()).data);
  for (int32_t b = 0; b < layer.batch; ++b) {
    const Code* const h = layer.begin<Code>(b);
    for (int32_t j = 0; j < hidden; ++j) {
      const int32_t code = h[j] - layer.h_zp;
      exact[j] = static_cast<int16_t>(
          numerics::saturate16(numerics::requantize(code, p.h0_mult, p.h0_shift)));
    }
    for (int32_t i = 0; i < layer.steps; ++i) {
      const int32_t row = layer.row(i, b);
      Steps::gates(layer, layer.x_row<Code>(row), 2 * hidden);
      Steps::template gru<Code>(layer, p.h_bits, exact);
      memcpy(y + row * hidden, h, layer.state_bytes<Code>());
    }
  }
}

template <class Steps>
void run_gru(const Call& call) {
  tensor(call, 0).dtype == DType::kI8 ? run_gru_layer<int8_t, Steps>(call)
                                      : run_gru_layer<int16_t, Steps>(call);
}
template <class Steps>
void run_gru_int4(const Call& call) {
  run_gru_layer<int8_t, Steps>(call);
}

}  // namespace thimble::kernels
