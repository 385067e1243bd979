// SPDX-License-Identifier: Apache-2.0
#pragma once
// The steps of gru and lstm, one unit at a time.

#include "kernels/args/gru.h"
#include "kernels/args/lstm.h"
#include "kernels/portable/gates.h"

namespace thimble::kernels {

struct PortableSteps {
  template <class Code>
  static void gates(const Recurrent& layer, const Code* x, int32_t split) {
    compute_gates(layer, x, split);
  }
  template <class Code>
  static void lstm(const Recurrent& layer, const abi::LstmParams& p, int16_t* c) {
    lstm_step<Code>(layer, p, c);
  }
  template <class Code>
  static void gru(const Recurrent& layer, int32_t bits, int16_t* exact) {
    gru_step<Code>(layer, bits, exact);
  }
};

}  // namespace thimble::kernels
