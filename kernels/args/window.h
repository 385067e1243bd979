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
  int32_t kernel, stride, dilation, pad;  // pad: before the first position
  int32_t in, out;                        // extents of input and output

  /// Input position of tap 0 for output position `o`; negative inside the padding.
  int32_t origin(int32_t o) const { return o * stride - pad; }

  /// The taps of a window at `start` that lie inside the image. May be empty.
  Taps inside(int32_t start) const {
    int32_t first = 0;
    int32_t last = kernel;
    // Divisions only where the window hangs over an edge: software division is slow on Cortex-M0+.
    if (start < 0) first = dilation == 1 ? -start : (dilation - 1 - start) / dilation;
    if (start + (kernel - 1) * dilation >= in) {
      const int32_t rest = in - 1 - start;
      last = rest < 0 ? 0 : dilation == 1 ? rest + 1 : rest / dilation + 1;
    }
    return {first, first > last ? first : last};
  }
};

/// Every quantity of both axes bounded so that run()'s 32-bit positions cannot overflow.
Status check_axes(const WindowAxis (&axes)[2], int32_t channels);
/// Output extent of torch.nn.functional: conv2d, and pools with or without ceil_mode.
int32_t window_output(const WindowAxis& axis, bool ceil_mode);
/// The output neither misses a window that fits, nor reaches more than 2^15 beyond the image.
bool output_follows(const WindowAxis& axis);
/// No window of the axis lies wholly in the padding.
bool windows_meet_image(const WindowAxis& axis);

}  // namespace thimble::kernels
