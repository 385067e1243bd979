// SPDX-License-Identifier: Apache-2.0
#include "kernels/portable/gates.h"

#include "kernels/portable/dot.h"
#include "kernels/portable/dot16.h"
#include "kernels/portable/finish_row.h"

namespace thimble::kernels {
namespace {

/// Computes `kCount` rows, starting at `row`.
template <int32_t kCount>
void rows(const Recurrent& layer, const int8_t* x, int32_t row, int32_t split) {
  uint32_t of_x[kCount] = {};
  uint32_t of_h[kCount] = {};
  accumulate(x, layer.row_ih(row), layer.inputs, layer.inputs, layer.x_offset, of_x);
  accumulate(layer.state<int8_t>(), layer.row_hh(row), layer.hidden, layer.hidden, -layer.h_zp,
             of_h);
  for (int32_t k = 0; k < kCount; ++k) {
    finish_row<int32_t>(layer, row + k, static_cast<int32_t>(of_x[k]),
                        static_cast<int32_t>(of_h[k]), split);
  }
}

template <int32_t kCount>
void rows16(const Recurrent& layer, const int16_t* x, int32_t row, int32_t split) {
  int64_t of_x[kCount] = {};
  int64_t of_h[kCount] = {};
  accumulate16({x, layer.row_ih(row), layer.inputs, 1, 0, 0, layer.inputs}, of_x);
  accumulate16({layer.state<int16_t>(), layer.row_hh(row), layer.hidden, 1, 0, 0, layer.hidden},
               of_h);
  for (int32_t k = 0; k < kCount; ++k) {
    finish_row<int32_t>(layer, row + k, of_x[k], of_h[k], split);
  }
}

}  // namespace

void compute_gates(const Recurrent& layer, const int8_t* x, int32_t split) {
  int32_t row = 0;
  for (; row + 4 <= layer.rows; row += 4) rows<4>(layer, x, row, split);
  for (; row < layer.rows; ++row) rows<1>(layer, x, row, split);
}

void compute_gates(const Recurrent& layer, const int16_t* x, int32_t split) {
  int32_t row = 0;
  for (; row + 4 <= layer.rows; row += 4) rows16<4>(layer, x, row, split);
  for (; row < layer.rows; ++row) rows16<1>(layer, x, row, split);
}

}  // namespace thimble::kernels
