// SPDX-License-Identifier: Apache-2.0
// thimble::dequantize.nest on Helium, four elements at a time.

#include "abi/ops/conversion.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE

#include "kernels/args/quantize_nest.h"
#include "kernels/define_kernel.h"
#include "kernels/mve/loop_nest.h"

namespace thimble::kernels {
namespace {

int32x4_t four(const int8_t* x, uint32x4_t places, mve_pred16_t lanes) {
  return vldrbq_gather_offset_z_s32(x, places, lanes);
}
int32x4_t four(const int16_t* x, uint32x4_t places, mve_pred16_t lanes) {
  return vldrhq_gather_shifted_offset_z_s32(x, places, lanes);
}

template <class Code>
void run_codes(const abi::QuantizeNest& p, const Code* codes, float* reals) {
  const abi::LoopNest nest = mve::with_longest_row(p.nest);
  const uint32_t y_step = nest.step[0][mve::kRow];
  const uint32_t x_step = nest.step[1][mve::kRow];
  const uint32x4_t y_places = mve::steps_of(4 * y_step);
  const uint32x4_t x_places = mve::steps_of(x_step);
  const int32_t zero_point = p.zero_point;
  const float factor = p.factor;
  for_each_row(nest, [&](uint32_t y_offset, uint32_t x_offset) {
    float* y = reals + y_offset;
    const Code* x = codes + x_offset;
    for (uint32_t left = nest.extent[mve::kRow]; left != 0; left = left > 4 ? left - 4 : 0) {
      const mve_pred16_t lanes = vctp32q(left);
      const int32x4_t code = vsubq_n_s32(four(x, x_places, lanes), zero_point);
      vstrwq_scatter_offset_p_f32(y, y_places, vmulq_n_f32(vcvtq_f32_s32(code), factor), lanes);
      x += 4 * x_step;
      y += 4 * y_step;
    }
  });
}

void run(void* const* operands) {
  const abi::QuantizeNest& p = packed<abi::op_info::thimble_dequantize_nest>(operands[1]);
  auto* const y = static_cast<float*>(operands[2]);
  if (p.quantized_bytes == 2) {
    run_codes(p, static_cast<const int16_t*>(operands[0]), y);
  } else {
    run_codes(p, static_cast<const int8_t*>(operands[0]), y);
  }
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(mve, thimble_dequantize_nest, check_dequantize_nest, run);

}  // namespace thimble::kernels

#endif
