// SPDX-License-Identifier: Apache-2.0
#pragma once
// The sliding window of convolutions and pools, one axis at a time (0 = height, 1 = width).

#include <cstdint>

#include "kernels/kernels.h"

namespace thimble::kernels {

/// Half-open range of taps.
struct Taps {
  int32_t first, last;
};

struct WindowAxis {
  int32_t kernel, stride, dilation, pad;  // pad: before the first input
  int32_t in, out;                        // extents of input and output

  /// Returns the input position of tap 0 for output position `o`; negative inside the padding.
  int32_t origin(int32_t o) const { return o * stride - pad; }

  /// Returns the taps inside the image for a window at `start`. The range may be empty.
  Taps inside(int32_t start) const {
    int32_t first = 0;
    int32_t last = kernel;
    // Divides only at an edge of the image: division in software is slow on Cortex-M0+.
    if (start < 0) first = dilation == 1 ? -start : (dilation - 1 - start) / dilation;
    if (start + (kernel - 1) * dilation >= in) {
      const int32_t rest = in - 1 - start;
      last = rest < 0 ? 0 : dilation == 1 ? rest + 1 : rest / dilation + 1;
    }
    return {first, first > last ? first : last};
  }
};

/// Sets the window of both axes from ConvParams or PoolParams.
template <class Params>
void bind_window(const Params& params, WindowAxis (&axis)[2]) {
  axis[0].kernel = params.kernel_h;
  axis[1].kernel = params.kernel_w;
  axis[0].stride = params.stride_h;
  axis[1].stride = params.stride_w;
  axis[0].dilation = params.dilation_h;
  axis[1].dilation = params.dilation_w;
  axis[0].pad = params.pad_top;
  axis[1].pad = params.pad_left;
}

/// Checks that both axes are bounded so that run()'s 32-bit positions cannot overflow.
Status check_axes(const WindowAxis (&axes)[2], int32_t channels);
/// Returns the output extent as torch.nn.functional defines it for conv2d and for pools with or
/// without ceil_mode.
int32_t window_output(const WindowAxis& axis, bool ceil_mode);
/// Returns true if the output has every window that fits and extends at most 2^15 beyond the image.
bool output_follows(const WindowAxis& axis);
/// Returns true if no window of the axis is entirely in the padding.
bool windows_meet_image(const WindowAxis& axis);

}  // namespace thimble::kernels
