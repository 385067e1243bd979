// SPDX-License-Identifier: Apache-2.0
#pragma once
// The windows of depthwise convolutions on the DSP extension.

#include <cstdint>

#include "abi/params/window.h"

namespace thimble::kernels::dsp {

struct Taps {
  const abi::WindowGeometry& g;
  const int8_t* x;
  const int8_t** list;
  const int8_t** list_end;
  const int8_t* padding;

  /// Writes the list for the window whose first tap is at (top, left).
  void find(int32_t top, int32_t left) const {
    const int8_t** to = list;
    int32_t row = top;
    for (int32_t ky = 0; ky < g.kernel_h; ++ky, row += g.dilation_h) {
      const bool inside = static_cast<uint32_t>(row) < g.in_h;
      const int32_t first = row * g.in_w;
      int32_t column = left;
      for (int32_t kx = 0; kx < g.kernel_w; ++kx, column += g.dilation_w) {
        const bool is_code = inside && static_cast<uint32_t>(column) < g.in_w;
        *to++ = is_code ? x + (first + column) * g.in_c : padding;
      }
    }
    while (to != list_end) *to++ = *list;  // padding taps; their weights are zeros
  }
};

/// Output columns whose windows are inside the image horizontally.
struct Inner {
  int32_t first, last;  // last is exclusive
};
inline Inner inner_columns(const abi::WindowGeometry& g) {
  const int32_t reach = (g.kernel_w - 1) * g.dilation_w;
  const int32_t room = g.in_w - 1 - reach + g.pad_left;
  Inner inner = {(g.pad_left + g.stride_w - 1) / g.stride_w, 0};
  if (room >= 0) inner.last = room / g.stride_w + 1;
  if (inner.last > g.out_w) inner.last = g.out_w;
  if (inner.first > inner.last) inner.first = inner.last;
  return inner;
}

}  // namespace thimble::kernels::dsp
