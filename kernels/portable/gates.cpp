#include "kernels/portable/gates.h"

#include "kernels/portable/dot.h"

namespace thimble::kernels {
namespace {

int16_t narrow(int32_t value) {
  return static_cast<int16_t>(numerics::saturate16(value));
}

/// One accumulated row: `x` and `h` are the sums of its products.
void finish_row(const Recurrent& layer, int32_t row, uint32_t x, uint32_t h, int32_t split) {
  const int32_t entry = layer.rows_per_entry == 1 ? row : row / layer.rows_per_entry;
  const int32_t of_h = layer.entries + entry;
  int32_t from_x =
      numerics::requantize(static_cast<int32_t>(x), layer.mult[entry], layer.shift[entry]);
  int32_t from_h =
      numerics::requantize(static_cast<int32_t>(h), layer.mult[of_h], layer.shift[of_h]);
  from_x = numerics::wrap_add(from_x, layer.bias[row]);
  if (layer.bias_hh != nullptr) from_h = numerics::wrap_add(from_h, layer.bias_hh[row]);
  if (row < split) {
    layer.lanes[row] = narrow(numerics::wrap_add(from_x, from_h));
  } else {
    layer.lanes[row] = narrow(from_x);
    layer.lanes[row + layer.hidden] = narrow(from_h);
  }
}

/// Rows from `row` on, as many as `acc` has.
template <int32_t kCount>
void rows(const Recurrent& layer, const int8_t* x, int32_t row, int32_t split) {
  uint32_t of_x[kCount] = {};
  uint32_t of_h[kCount] = {};
  accumulate(x, layer.w_ih + row * layer.inputs, layer.inputs, layer.inputs, layer.x_offset, of_x);
  accumulate(layer.h, layer.w_hh + row * layer.hidden, layer.hidden, layer.hidden, -layer.h_zp,
             of_h);
  for (int32_t k = 0; k < kCount; ++k) finish_row(layer, row + k, of_x[k], of_h[k], split);
}

}  // namespace

void compute_gates(const Recurrent& layer, const int8_t* x, int32_t split) {
  int32_t row = 0;
  for (; row + 4 <= layer.rows; row += 4) rows<4>(layer, x, row, split);
  for (; row < layer.rows; ++row) rows<1>(layer, x, row, split);
}

}  // namespace thimble::kernels
