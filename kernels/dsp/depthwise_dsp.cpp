// SPDX-License-Identifier: Apache-2.0
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
#include "kernels/dsp/depthwise_taps.h"

namespace thimble::kernels {
namespace {

using abi::WindowGeometry;
using dsp::DepthwiseRun;
using dsp::Inner;
using dsp::inner_columns;
using dsp::Taps;

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
