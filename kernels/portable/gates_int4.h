// SPDX-License-Identifier: Apache-2.0
#pragma once
// compute_gates() (gates.h) for weights of 4 bits, and the steps of layers with such weights.

#include "kernels/portable/recurrent_steps.h"

namespace thimble::kernels {

void compute_gates_int4(const Recurrent& layer, const int8_t* x, int32_t split);

struct PortableInt4Steps : PortableSteps {
  static void gates(const Recurrent& layer, const int8_t* x, int32_t split) {
    compute_gates_int4(layer, x, split);
  }
};

}  // namespace thimble::kernels
