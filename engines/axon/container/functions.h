#pragma once
// What the core computes between layers of the NPU, element by element: for whoever has the numbers
// without a layer list.

#include <stdint.h>

namespace thimble::axon::model {

/// Of a number with 12 fractional bits: round(256 sigmoid(x)) - 128, or round(128 tanh(x)).
int32_t curve_at(int32_t value, bool tanh);

/// Softmax of one line of `count` int32 with 12 fractional bits to int8; steps in bytes.
void soften(const uint8_t* from, uint32_t from_step, uint8_t* to, uint32_t to_step, uint32_t count);

}  // namespace thimble::axon::model
