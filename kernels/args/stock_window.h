// SPDX-License-Identifier: Apache-2.0
#pragma once
// The window of a stock convolution or pool as the geometry of packed operators, so that stock
// operators run the same loops.

#include "abi/params/window.h"
#include "kernels/args/pool.h"
#include "kernels/args/window.h"

namespace thimble::kernels {

/// Sets *field. Returns false if the value exceeds the field.
template <class Field>
bool set_field(Field* field, int32_t value) {
  *field = static_cast<Field>(value);
  return *field == value;
}

/// Sets sizes, window and padding. Returns false if a value exceeds its field.
bool set_window(const WindowAxis (&axis)[2], int32_t in_c, int32_t out_c, abi::WindowGeometry* g);

/// Runs kRun, the body of a packed pool, for each image. Returns false if the geometry cannot
/// express the pool.
template <auto kRun>
bool run_packed_pool(const Pool& pool) {
  abi::WindowGeometry g = {};
  if ((pool.axis[0].dilation | pool.axis[1].dilation) != 1) return false;
  if (!set_window(pool.axis, pool.c, pool.c, &g)) return false;
  g.min = static_cast<int16_t>(pool.min);
  g.max = static_cast<int16_t>(pool.max);
  const int8_t* x = pool.x;
  int8_t* y = pool.y;
  for (int32_t n = 0; n < pool.batch; ++n) {
    void* const operands[] = {const_cast<int8_t*>(x), &g, y};
    kRun(operands);
    x += pool.axis[0].in * pool.axis[1].in * pool.c;
    y += pool.axis[0].out * pool.axis[1].out * pool.c;
  }
  return true;
}

}  // namespace thimble::kernels
