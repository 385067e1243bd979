// SPDX-License-Identifier: Apache-2.0
// thimble::max_pool2d.packed: the maximum of each window of one NHWC image; constant:
// abi::WindowGeometry, whose bounds are not used.
//
// Operands: x, WindowGeometry constant, y.

#include "abi/ops/pool.h"
#include "abi/params/window.h"
#include "kernels/args/flat.h"
#include "kernels/args/window_pool.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/pools.h"

namespace thimble::kernels {
namespace {

int8_t maximum_of(const Window& w, uint32_t channel) {
  int8_t maximum = -128;
  const int8_t* row = w.x + channel;
  for (uint32_t r = 0; r < w.rows; ++r) {
    const int8_t* at = row;
    for (uint32_t k = 0; k < w.columns; ++k) {
      maximum = *at > maximum ? *at : maximum;
      at += w.column_step;
    }
    row += w.row_step;
  }
  return maximum;
}

/// Returns the maxima of four pairs of int8 values: 12 instructions without any extension.
uint32_t larger(uint32_t a, uint32_t b) {
  constexpr uint32_t kSigns = 0x80808080;
  const uint32_t differs = a ^ b;
  // If the signs are equal, the sign bit of (a | 128) - (b & 127) is set if a >= b. If they differ,
  // a is larger if b is negative.
  const uint32_t apart = (a | kSigns) - (b & ~kSigns);
  const uint32_t keeps = ((b & ~a) | (apart & ~differs)) & kSigns;
  const uint32_t mask = (keeps << 1) - (keeps >> 7);
  return b ^ (differs & mask);
}

uint32_t four_maxima(const Window& w, uint32_t channel) {
  uint32_t maxima = 0x80808080;
  const int8_t* row = w.x + channel;
  for (uint32_t r = w.rows; r != 0; --r) {
    const int8_t* at = row;
    for (uint32_t k = w.columns; k != 0; --k) {
      maxima = larger(load_word(at), maxima);
      at += w.column_step;
    }
    row += w.row_step;
  }
  return maxima;
}

}  // namespace

void maximum_of_windows(void* const* operands) {
  for_each_window(operands, [&](const abi::WindowGeometry& g, const Window& w, int8_t* y) {
    uint32_t c = 0;
    if (is_word_aligned(operands[0], g.in_c) && is_word_aligned(y, 0)) {
      for (; c < g.in_c; c += 4) store_word(y + c, four_maxima(w, c));
    }
    for (; c < g.in_c; ++c) y[c] = maximum_of(w, c);
  });
}

THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_max_pool2d_packed, check_window_pool,
                           maximum_of_windows);

}  // namespace thimble::kernels
