// SPDX-License-Identifier: Apache-2.0
#pragma once
// Helpers for kernels that slide a window over an image [N, H, W, C].

#include "engines/neutron/container/window.h"
#include "engines/neutron/model/kernel.h"

namespace thimble::neutron::model {

/// Channels of one pixel that depthwise convolutions and pools process together.
inline constexpr uint32_t kChannelBlock = 32;

/// Returns the byte offset of [n, h, w, 0].
inline int32_t pixel(const View& view, uint32_t n, uint32_t h, uint32_t w) {
  return static_cast<int32_t>(n) * view.strides[0] + static_cast<int32_t>(h) * view.strides[1] +
         static_cast<int32_t>(w) * view.strides[2];
}

/// Calls `each(n, h, w)` for every pixel of the view.
template <class Each>
void for_pixels(const View& view, Each each) {
  for (uint32_t n = 0; n < view.dims[0]; ++n) {
    for (uint32_t h = 0; h < view.dims[1]; ++h) {
      for (uint32_t w = 0; w < view.dims[2]; ++w) each(n, h, w);
    }
  }
}

/// The part of a window that is inside the image.
struct Window {
  Taps rows;
  Taps columns;
  [[nodiscard]] uint32_t taps() const {
    return (rows.to - rows.from) * (columns.to - columns.from);
  }
};

inline Window window_at(const KernelArgs& args, uint32_t h, uint32_t w) {
  const KernelRecord& r = args.record;
  const View& a = r.operands[0];
  const int32_t top = static_cast<int32_t>(h * r.stride_h) - r.pad_top;
  const int32_t left = static_cast<int32_t>(w * r.stride_w) - r.pad_left;
  return {taps_at(top, r.kernel_h, r.dilation_h, a.dims[1]),
          taps_at(left, r.kernel_w, r.dilation_w, a.dims[2])};
}

/// Calls `each(x, tap)` for every tap inside the image: `x` is the offset of its input pixel
/// [.., 0], `tap` its index in the kernel, row by row.
template <class Each>
void for_taps(const KernelArgs& args, uint32_t n, const Window& window, Each each) {
  const KernelRecord& r = args.record;
  for (uint32_t ky = window.rows.from; ky < window.rows.to; ++ky) {
    const uint32_t row = window.rows.position + (ky - window.rows.from) * r.dilation_h;
    for (uint32_t kx = window.columns.from; kx < window.columns.to; ++kx) {
      const uint32_t column = window.columns.position + (kx - window.columns.from) * r.dilation_w;
      each(pixel(r.operands[0], n, row, column), ky * r.kernel_w + kx);
    }
  }
}

}  // namespace thimble::neutron::model
