// SPDX-License-Identifier: Apache-2.0
// thimble::max_pool2d.packed with the DSP extension: maxima of four channels at a time.

#include "abi/ops/pool.h"
#include "abi/params/window.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_DSP

#include <string.h>

#include "kernels/args/window_pool.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

/// Returns the larger value of each of four pairs of int8 values. SSUB8 sets the GE flag of each
/// byte for which a >= b; SEL reads them.
uint32_t larger(uint32_t a, uint32_t b) {
  uint32_t result;
  asm("ssub8 %0, %1, %2\n\tsel %0, %1, %2" : "=&r"(result) : "r"(a), "r"(b));
  return result;
}

uint32_t four_maxima(const Window& w, uint32_t channel) {
  uint32_t maxima = 0x80808080;
  const int8_t* row = w.x + channel;
  for (uint32_t r = w.rows; r != 0; --r) {
    const int8_t* at = row;
    for (uint32_t k = w.columns; k != 0; --k) {
      uint32_t codes;
      memcpy(&codes, at, sizeof codes);  // these cores load unaligned words
      maxima = larger(codes, maxima);
      at += w.column_step;
    }
    row += w.row_step;
  }
  return maxima;
}

int8_t maximum_of(const Window& w, uint32_t channel) {
  int8_t maximum = -128;
  const int8_t* row = w.x + channel;
  for (uint32_t r = w.rows; r != 0; --r) {
    const int8_t* at = row;
    for (uint32_t k = w.columns; k != 0; --k) {
      maximum = *at > maximum ? *at : maximum;
      at += w.column_step;
    }
    row += w.row_step;
  }
  return maximum;
}

void run(void* const* operands) {
  for_each_window(operands, [](const abi::WindowGeometry& g, const Window& w, int8_t* y) {
    uint32_t c = 0;
    for (; c + 4 <= g.in_c; c += 4) {
      const uint32_t maxima = four_maxima(w, c);
      memcpy(y + c, &maxima, sizeof maxima);
    }
    for (; c < g.in_c; ++c) y[c] = maximum_of(w, c);
  });
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(dsp, thimble_max_pool2d_packed, check_window_pool, run);

}  // namespace thimble::kernels

#endif
