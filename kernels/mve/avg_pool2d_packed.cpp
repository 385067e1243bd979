// SPDX-License-Identifier: Apache-2.0
// Averages of eight channels at a time. Up to 255 values are summed in 16 bits, then in 32 bits. A
// sum is divided by a multiplication as in the portable kernel.

#include "abi/ops/pool.h"
#include "abi/params/window.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE

#include <arm_mve.h>

#include "kernels/args/window_pool.h"
#include "kernels/define_kernel.h"
#include "kernels/mve/column_sums.h"
#include "kernels/mve/window_pool.h"

namespace thimble::kernels {
namespace {

/// |sum| + n/2 is below 129 n, so division by multiplication is exact up to n = 360.
constexpr uint32_t kMultiplied = 360;

int32x4_t quotients(uint32x4_t sizes, uint32_t count) {
  if (count <= kMultiplied) {
    const uint32_t multiplier = ((1U << 24) + count - 1) / count;
    return vreinterpretq_s32_u32(vshrq_n_u32(vmulq_n_u32(sizes, multiplier), 24));
  }
  uint32_t lanes[4];
  vst1q_u32(lanes, sizes);
  for (uint32_t& lane : lanes) lane /= count;
  return vreinterpretq_s32_u32(vld1q_u32(lanes));
}

/// Returns sum / count, halves away from zero.
int32x4_t means(int32x4_t sums, uint32_t count) {
  const uint32x4_t sizes =
      vreinterpretq_u32_s32(vaddq_n_s32(vabsq_s32(sums), static_cast<int32_t>(count / 2)));
  const int32x4_t positive = quotients(sizes, count);
  return vnegq_m_s32(positive, positive, vcmpltq_n_s32(sums, 0));
}

}  // namespace

void mve::average_windows(void* const* operands) {
  for_each_window(operands, [](const abi::WindowGeometry& g, Window w, int8_t* y) {
    const uint32_t count = w.rows * w.columns;
    // Full rows of the image are contiguous.
    if (w.columns == g.in_w) {
      w.columns = count;
      w.rows = 1;
    }
    const int16x8_t low = vdupq_n_s16(g.min);
    const int16x8_t high = vdupq_n_s16(g.max);
    for (uint32_t c = 0; c < g.in_c; c += 8) {
      const mve_pred16_t lanes = vctp16q(g.in_c - c);
      mve::ColumnSums sums;
      const int8_t* row = w.x + c;
      for (uint32_t r = 0; r < w.rows; ++r) {
        sums.add(row, w.columns, w.column_step, lanes);
        row += w.row_step;
      }
      sums.flush();
      int16x8_t codes =
          vmovntq_s32(vreinterpretq_s16_s32(means(sums.even, count)), means(sums.odd, count));
      codes = vminq_s16(vmaxq_s16(codes, low), high);
      vstrbq_p_s16(y + c, codes, lanes);
    }
  });
}

THIMBLE_DEFINE_BARE_KERNEL(mve, thimble_avg_pool2d_packed, check_window_pool, mve::average_windows);

}  // namespace thimble::kernels

#endif
