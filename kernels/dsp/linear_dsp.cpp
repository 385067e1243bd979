// SPDX-License-Identifier: Apache-2.0
// linear_dsp on the DSP extension. Operands: kernels/args/linear_dsp.h; inner loop: linear_block.h.

#include "abi/ops/linear.h"
#include "abi/params/linear.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_DSP

#include "kernels/args/linear_dsp.h"
#include "kernels/define_kernel.h"
#include "kernels/dsp/clamp.h"
#include "kernels/dsp/linear_block.h"

namespace thimble::kernels {
namespace {

void run(void* const* operands) {
  const abi::LinearGeometry& g = linear_geometry(operands[1]);
  const auto* x = static_cast<const int8_t*>(operands[0]);
  auto* const first = static_cast<int8_t*>(operands[3]);
  const uint32_t rest = g.out_features % 4;  // computed separately
  int8_t* y = first;
  dsp::LinearRow row = {};
  row.zero_point = g.y_zero_point;
  row.skip = (0U - g.in_features / 4) % dsp::kLinearUnrolled;
  for (uint32_t i = 0; i < g.rows; ++i) {
    const void* weights = operands[2];
    row.x = x;
    row.x_end = x += g.in_features;
    row.y = y;
    row.y_end = y += g.out_features - rest;
    if (row.y != row.y_end) weights = thimble_dsp_linear_row(&row, weights);
    if (rest == 0) continue;
    int8_t last[4];
    row.y = last;
    row.y_end = last + 4;
    if (rest == 3) {
      thimble_dsp_linear_row(&row, weights);
    } else {
      thimble_dsp_linear_pair(&row, weights);
    }
    for (uint32_t o = 0; o < rest; ++o) *y++ = last[o];
  }
  dsp::clamp_codes(first, g.rows * g.out_features, g.min, g.max);
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(dsp, thimble_linear_dsp, check_linear_dsp, run);

}  // namespace thimble::kernels

#endif  // THIMBLE_HAS_DSP
