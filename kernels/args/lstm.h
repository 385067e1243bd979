// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of lstm that all cores share; formulas: docs/numerics.md, "Recurrent layers". `Steps`
// computes gates and cells: PortableSteps, or a class of a kernel for some cores.
//
// Operands: x, h0, c0 (int8, or the cell as int16), w_ih, w_hh, bias, mult, shift, table,
// parameters, scratch, y.

#include "abi/ops/recurrent.h"
#include "kernels/args/params.h"
#include "kernels/args/recurrent.h"

namespace thimble::kernels {

Status check_lstm(const Call& call);
/// For weights of 4 bits (abi/int4.h).
Status check_lstm_int4(const Call& call);

/// Sets the cells of batch element `b` to their first values.
void begin_lstm(const Call& call, const Recurrent& layer, const abi::LstmParams& p, int16_t* c,
                int32_t b);

/// Computes cells and outputs from the gates.
template <class Code>
void lstm_step(const Recurrent& layer, const abi::LstmParams& p, int16_t* c) {
  const int32_t hidden = layer.hidden;
  for (int32_t j = 0; j < hidden; ++j) {
    const int16_t* const gate = layer.lanes + j;
    const int32_t in = numerics::sigmoid_q15(layer.table, gate[0]);
    const int32_t forget = numerics::sigmoid_q15(layer.table, gate[hidden]);
    const int32_t fresh = numerics::tanh_q15(layer.table, gate[2 * hidden]);
    const int32_t out = numerics::sigmoid_q15(layer.table, gate[3 * hidden]);
    const int32_t content = numerics::blend(forget, c[j], in * fresh, p.c_bits);
    c[j] = static_cast<int16_t>(content);
    const int32_t seen = numerics::tanh_q15(layer.table, numerics::to_gate(content, p.c_bits));
    layer.state<Code>()[j] = layer.output<Code>(out * seen);
  }
}

template <class Code>
void store_lstm(const Recurrent& layer, const abi::LstmParams& p, const int16_t* c, const Tensor& y,
                int32_t row) {
  const int32_t first = row * layer.hidden;
  for (int32_t j = 0; j < layer.hidden; ++j) {
    if (p.cell == 2) {
      static_cast<int16_t*>(y.data)[first + j] = c[j];
    } else if (p.cell == 1) {
      static_cast<Code*>(y.data)[first + j] =
          requantize_output<Code>(c[j], p.y_mult, p.y_shift, p.y_zp);
    } else {
      static_cast<Code*>(y.data)[first + j] = layer.state<Code>()[j];
    }
  }
}

template <class Code, class Steps>
void run_lstm_layer(const Call& call) {
  const Recurrent layer = bind_recurrent(call, kLstmSignature);
  const abi::LstmParams& p = params<abi::op_info::thimble_lstm>(layer.params);
  int16_t* const c = layer.lanes + layer.rows;
  for (int32_t b = 0; b < layer.batch; ++b) {
    layer.begin<Code>(b);
    begin_lstm(call, layer, p, c, b);
    for (int32_t i = 0; i < layer.steps; ++i) {
      const int32_t row = layer.row(i, b);
      Steps::gates(layer, layer.x_row<Code>(row), layer.rows);
      Steps::template lstm<Code>(layer, p, c);
      store_lstm<Code>(layer, p, c, tensor(call, kLstmSignature.y()), row);
    }
  }
}

template <class Steps>
void run_lstm(const Call& call) {
  tensor(call, 0).dtype == DType::kI8 ? run_lstm_layer<int8_t, Steps>(call)
                                      : run_lstm_layer<int16_t, Steps>(call);
}
template <class Steps>
void run_lstm_int4(const Call& call) {
  run_lstm_layer<int8_t, Steps>(call);
}

}  // namespace thimble::kernels
