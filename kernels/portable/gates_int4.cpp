// SPDX-License-Identifier: Apache-2.0
#include "kernels/portable/gates_int4.h"

#include "kernels/portable/dot_int4.h"
#include "kernels/portable/finish_row.h"

namespace thimble::kernels {
namespace {

/// Computes the rows of one pair or of two pairs; a missing last row is not stored.
template <int32_t kCount>
void int4_rows(const Recurrent& layer, const Int4Operand& x, const Int4Operand& h, int32_t row,
               int32_t split) {
  uint32_t of_x[kCount];
  uint32_t of_h[kCount];
  multiply_int4(x, layer.pair_ih(row), of_x);
  multiply_int4(h, layer.pair_hh(row), of_h);
  for (int32_t k = 0; k < kCount && row + k < layer.rows; ++k) {
    finish_row<int8_t>(layer, row + k, static_cast<int32_t>(of_x[k]), static_cast<int32_t>(of_h[k]),
                       split);
  }
}

}  // namespace

void compute_gates_int4(const Recurrent& layer, const int8_t* x, int32_t split) {
  const Int4Operand of_x = int4_operand(x, layer.inputs, layer.x_offset);
  const Int4Operand of_h = int4_operand(layer.state<int8_t>(), layer.hidden, -layer.h_zp);
  int32_t row = 0;
  for (; row + 2 < layer.rows; row += 4) int4_rows<4>(layer, of_x, of_h, row, split);
  if (row < layer.rows) int4_rows<2>(layer, of_x, of_h, row, split);
}

}  // namespace thimble::kernels
