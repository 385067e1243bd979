// SPDX-License-Identifier: Apache-2.0
#pragma once
// Elementwise functions that the core computes between layers of the NPU, usable without a layer
// list.

#include <stdint.h>

namespace thimble::axon::model {

/// Returns round(256 sigmoid(x)) - 128 or round(128 tanh(x)); `value` has 12 fractional bits.
int32_t curve_at(int32_t value, bool tanh);

/// Computes the softmax of `count` int32 values with 12 fractional bits as int8. Steps are in
/// bytes.
void softmax_row(const uint8_t* from, uint32_t from_step, uint8_t* to, uint32_t to_step,
                 uint32_t count);

}  // namespace thimble::axon::model
