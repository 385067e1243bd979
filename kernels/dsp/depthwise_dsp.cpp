// depthwise_dsp on the DSP extension. Operands: kernels/args/conv_dsp.h; inner loop:
// depthwise_block.h.
//
// A pixel is computed from a list of the addresses of its taps. A tap in the padding has the
// address of a row of zero points. Pixels of a row whose windows are inside the image share one
// list: all their taps move by the same number of bytes.

#include "abi/ops/conv.h"
#include "abi/params/window.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_DSP

#include "kernels/args/conv_dsp.h"
#include "kernels/define_kernel.h"
#include "kernels/dsp/clamp.h"
#include "kernels/dsp/depthwise_block.h"

namespace thimble::kernels {
namespace {

using abi::WindowGeometry;
using dsp::DepthwiseRun;

struct Taps {
  const WindowGeometry& g;
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
Inner inner_columns(const WindowGeometry& g) {
  const int32_t reach = (g.kernel_w - 1) * g.dilation_w;
  const int32_t room = g.in_w - 1 - reach + g.pad_left;
  Inner inner = {(g.pad_left + g.stride_w - 1) / g.stride_w, 0};
  if (room >= 0) inner.last = room / g.stride_w + 1;
  if (inner.last > g.out_w) inner.last = g.out_w;
  if (inner.first > inner.last) inner.first = inner.last;
  return inner;
}

void run(void* const* operands) {
  const WindowGeometry& g = window_geometry(operands[1]);
  const void* const weights = operands[2];
  auto** const list = static_cast<const int8_t**>(operands[3]);
  const auto** const list_end = list + abi::dsp_depthwise_taps(g);
  auto* const padding = reinterpret_cast<int8_t*>(list_end);
  memset(padding, g.x_zero_point, g.in_c);
  const Taps taps = {g, static_cast<const int8_t*>(operands[0]), list, list_end, padding};
  auto* const y = static_cast<int8_t*>(operands[4]);
  const int32_t down = (g.kernel_h - 1) * g.dilation_h;
  const Inner inner = inner_columns(g);
  DepthwiseRun row = {list, list_end, y, 0, g.in_c, 1, (g.stride_w - 1U) * g.in_c, g.y_zero_point};
  for (int32_t oy = 0; oy < g.out_h; ++oy) {
    const int32_t top = oy * g.stride_h - g.pad_top;
    const bool whole = top >= 0 && top + down < g.in_h;
    for (int32_t ox = 0; ox < g.out_w;) {
      const bool together = whole && ox == inner.first && inner.first < inner.last;
      const int32_t pixels = together ? inner.last - inner.first : 1;
      taps.find(top, ox * g.stride_w - g.pad_left);
      row.pixels = static_cast<uint32_t>(pixels);
      thimble_dsp_depthwise_run(&row, weights);
      row.y += pixels * g.in_c;
      ox += pixels;
    }
  }
  dsp::clamp_codes(y, uint32_t{g.out_h} * g.out_w * g.out_c, g.min, g.max);
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(dsp, thimble_depthwise_dsp, check_depthwise_dsp, run);

}  // namespace thimble::kernels

#endif  // THIMBLE_HAS_DSP
