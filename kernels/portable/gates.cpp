#include "kernels/portable/gates.h"

#include "kernels/args/requant16.h"
#include "kernels/portable/dot.h"

namespace thimble::kernels {
namespace {

int16_t narrow(int32_t value) {
  return static_cast<int16_t>(numerics::saturate16(value));
}

int32_t scaled(int32_t sum, int32_t mult, int32_t shift) {
  return numerics::requantize(sum, mult, shift);
}
int32_t scaled(int64_t sum, int32_t mult, int32_t shift) {
  return numerics::requantize64(sum, mult, shift);
}

/// Completes one row: `x` and `h` are its sums of products.
template <class Sum>
void finish_row(const Recurrent& layer, int32_t row, Sum x, Sum h, int32_t split) {
  const int32_t entry = layer.rows_per_entry == 1 ? row : row / layer.rows_per_entry;
  const int32_t of_h = layer.entries + entry;
  int32_t from_x = scaled(x, layer.mult[entry], layer.shift[entry]);
  int32_t from_h = scaled(h, layer.mult[of_h], layer.shift[of_h]);
  from_x = numerics::wrap_add(from_x, layer.bias[row]);
  if (layer.bias_hh != nullptr) from_h = numerics::wrap_add(from_h, layer.bias_hh[row]);
  if (row < split) {
    layer.lanes[row] = narrow(numerics::wrap_add(from_x, from_h));
  } else {
    layer.lanes[row] = narrow(from_x);
    layer.lanes[row + layer.hidden] = narrow(from_h);
  }
}

/// Computes `kCount` rows, starting at `row`.
template <int32_t kCount>
void rows(const Recurrent& layer, const int8_t* x, int32_t row, int32_t split) {
  uint32_t of_x[kCount] = {};
  uint32_t of_h[kCount] = {};
  accumulate(x, layer.w_ih + row * layer.inputs, layer.inputs, layer.inputs, layer.x_offset, of_x);
  accumulate(layer.state<int8_t>(), layer.w_hh + row * layer.hidden, layer.hidden, layer.hidden,
             -layer.h_zp, of_h);
  for (int32_t k = 0; k < kCount; ++k) {
    finish_row(layer, row + k, static_cast<int32_t>(of_x[k]), static_cast<int32_t>(of_h[k]), split);
  }
}

}  // namespace

void compute_gates(const Recurrent& layer, const int8_t* x, int32_t split) {
  int32_t row = 0;
  for (; row + 4 <= layer.rows; row += 4) rows<4>(layer, x, row, split);
  for (; row < layer.rows; ++row) rows<1>(layer, x, row, split);
}

void compute_gates(const Recurrent& layer, const int16_t* x, int32_t split) {
  for (int32_t row = 0; row < layer.rows; ++row) {
    const int64_t of_x = dot16(x, layer.w_ih + row * layer.inputs, layer.inputs);
    const int64_t of_h =
        dot16(layer.state<int16_t>(), layer.w_hh + row * layer.hidden, layer.hidden);
    finish_row(layer, row, of_x, of_h, split);
  }
}

}  // namespace thimble::kernels
