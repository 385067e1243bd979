// SPDX-License-Identifier: Apache-2.0
#pragma once
// The last part of compute_gates() (gates.h): sums of products of one row become a gate.

#include "kernels/args/recurrent.h"
#include "kernels/args/requant16.h"

namespace thimble::kernels {

inline int16_t narrow_gate(int32_t value) {
  return static_cast<int16_t>(numerics::saturate16(value));
}

inline int32_t scaled_gate(int32_t sum, int32_t mult, int32_t shift) {
  return numerics::requantize(sum, mult, shift);
}
inline int32_t scaled_gate(int64_t sum, int32_t mult, int32_t shift) {
  return numerics::requantize64(sum, mult, shift);
}

/// Completes one row: `x` and `h` are its sums of products. `Shift`: type of the stored shifts.
template <class Shift, class Sum>
void finish_row(const Recurrent& layer, int32_t row, Sum x, Sum h, int32_t split) {
  const auto* const shift = static_cast<const Shift*>(layer.shift);
  const int32_t entry = layer.rows_per_entry == 1 ? row : row / layer.rows_per_entry;
  const int32_t of_h = layer.entries + entry;
  int32_t from_x = scaled_gate(x, layer.mult[entry], shift[entry]);
  int32_t from_h = scaled_gate(h, layer.mult[of_h], shift[of_h]);
  from_x = numerics::wrap_add(from_x, layer.bias[row]);
  if (layer.bias_hh != nullptr) from_h = numerics::wrap_add(from_h, layer.bias_hh[row]);
  if (row < split) {
    layer.lanes[row] = narrow_gate(numerics::wrap_add(from_x, from_h));
  } else {
    layer.lanes[row] = narrow_gate(from_x);
    layer.lanes[row + layer.hidden] = narrow_gate(from_h);
  }
}

}  // namespace thimble::kernels
