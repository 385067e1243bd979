// SPDX-License-Identifier: Apache-2.0
// thimble::quantize.nest on Helium, four elements at a time. Helium flushes subnormal floats to
// zero; their product with every valid factor is below one half. Conversion rounds ties to even,
// saturates to 32 bits and converts NaN to 0.

#include "abi/ops/conversion.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE

#include "kernels/args/quantize_nest.h"
#include "kernels/define_kernel.h"
#include "kernels/mve/loop_nest.h"

namespace thimble::kernels {
namespace {

void run(void* const* operands) {
  const abi::QuantizeNest& p = packed<abi::op_info::thimble_quantize_nest>(operands[1]);
  const abi::LoopNest nest = mve::with_longest_row(p.nest);
  const float factor = p.factor;
  const int32x4_t zero_point = vdupq_n_s32(p.zero_point);
  const int32x4_t low = vdupq_n_s32(-128);
  const int32x4_t high = vdupq_n_s32(127);
  const uint32_t y_step = nest.step[0][mve::kRow];
  const uint32_t x_step = nest.step[1][mve::kRow];
  const uint32x4_t y_places = mve::steps_of(y_step);
  const uint32x4_t x_places = mve::steps_of(4 * x_step);
  const auto codes = [&](float32x4_t x) {
    const int32x4_t whole = vcvtnq_s32_f32(vmulq_n_f32(x, factor));
    return vminq_s32(vmaxq_s32(vqaddq_s32(whole, zero_point), low), high);
  };
  for_each_row(nest, [&](uint32_t y_offset, uint32_t x_offset) {
    auto* y = static_cast<int8_t*>(operands[2]) + y_offset;
    const auto* x = static_cast<const float*>(operands[0]) + x_offset;
    uint32_t left = nest.extent[mve::kRow];
    if (x_step == 1) {
      for (; left >= 4; left -= 4) {
        vstrbq_scatter_offset_s32(y, y_places, codes(vldrwq_f32(x)));
        x += 4;
        y += 4 * y_step;
      }
    }
    for (; left != 0; left = left > 4 ? left - 4 : 0) {
      const mve_pred16_t lanes = vctp32q(left);
      const int32x4_t code = codes(vldrwq_gather_offset_z_f32(x, x_places, lanes));
      vstrbq_scatter_offset_p_s32(y, y_places, code, lanes);
      x += 4 * x_step;
      y += 4 * y_step;
    }
  });
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(mve, thimble_quantize_nest, check_quantize_nest, run);

}  // namespace thimble::kernels

#endif
