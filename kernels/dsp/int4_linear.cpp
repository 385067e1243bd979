// SPDX-License-Identifier: Apache-2.0
// linear_dsp_int4 on the DSP extension, as linear_dsp; inner loops: int4_blocks.h.

#include "abi/ops/linear.h"
#include "abi/params/linear.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_DSP

#include <arm_acle.h>
#include <string.h>

#include "kernels/args/int4.h"
#include "kernels/define_kernel.h"
#include "kernels/dsp/clamp.h"
#include "kernels/dsp/int4_blocks.h"

namespace thimble::kernels {
namespace {

/// Returns the sum of `count` values, a multiple of 4.
int32_t sum_of(const int8_t* x, uint32_t count) {
  uint32_t sum = 0;
  for (uint32_t k = 0; k < count; k += 4) {
    uint32_t four;
    memcpy(&four, x + k, sizeof four);
    sum = __usada8(four ^ 0x80808080U, 0, sum);  // adds four values plus 128
  }
  return static_cast<int32_t>(sum - 128 * count);
}

void run(void* const* operands) {
  const abi::LinearGeometry& g = linear_geometry(operands[1]);
  const auto* x = static_cast<const int8_t*>(operands[0]);
  auto* const first = static_cast<int8_t*>(operands[3]);
  const uint32_t rest = g.out_features % 4;  // computed separately
  int8_t* y = first;
  dsp::Int4LinearRow row = {};
  row.zero_point = g.y_zero_point;
  row.skip = (0U - g.in_features / 4) % dsp::kInt4LinearUnrolled;
  for (uint32_t i = 0; i < g.rows; ++i) {
    const void* weights = operands[2];
    row.offset = -8 * sum_of(x, g.in_features);
    row.x = x;
    row.x_end = x += g.in_features;
    row.y = y;
    row.y_end = y += g.out_features - rest;
    if (row.y != row.y_end) weights = thimble_dsp_int4_row(&row, weights);
    if (rest == 0) continue;
    int8_t last[4];
    row.y = last;
    row.y_end = last + 4;
    if (rest == 3) {
      thimble_dsp_int4_row(&row, weights);
    } else {
      thimble_dsp_int4_pair(&row, weights);
    }
    for (uint32_t o = 0; o < rest; ++o) *y++ = last[o];
  }
  dsp::clamp_codes(first, g.rows * g.out_features, g.min, g.max);
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(dsp, thimble_linear_dsp_int4, check_linear_dsp_int4, run);

}  // namespace thimble::kernels

#endif  // THIMBLE_HAS_DSP
