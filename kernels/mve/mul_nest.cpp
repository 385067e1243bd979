// SPDX-License-Identifier: Apache-2.0
// thimble::mul.nest on Helium, four products at a time. Operands that are neither contiguous
// nor constant along a row are gathered.

#include "abi/ops/arithmetic.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE

#include "kernels/args/binary_nest.h"
#include "kernels/define_kernel.h"
#include "kernels/mve/elementwise.h"
#include "kernels/mve/loop_nest.h"

namespace thimble::kernels {
namespace {

int32x4_t four(const int8_t* x, uint32_t step, mve_pred16_t lanes) {
  if (step == 1) return vldrbq_z_s32(x, lanes);
  if (step == 0) return vdupq_n_s32(*x);
  return vldrbq_gather_offset_z_s32(x, mve::steps_of(step), lanes);
}

void run(void* const* operands) {
  const abi::MulNest& p = packed<abi::op_info::thimble_mul_nest>(operands[2]);
  mve::MulRow row = {};
  row.y = static_cast<int8_t*>(operands[3]);
  row.count = p.nest.extent[mve::kRow];
  row.a_step = p.nest.step[0][mve::kRow];
  row.b_step = p.nest.step[1][mve::kRow];
  for_each_row(p.nest, [&](uint32_t a_place, uint32_t b_place) {
    row.a = static_cast<const int8_t*>(operands[0]) + a_place;
    row.b = static_cast<const int8_t*>(operands[1]) + b_place;
    mve::mul_row(p.mul, row);
    row.y += row.count;
  });
}

}  // namespace

void mve::mul_row(const abi::MulParams& p, MulRow row) {
  const int32_t left_shift = p.shift > 0 ? p.shift : 0;
  const int32_t right_shift = p.shift > 0 ? 0 : p.shift;
  const int32_t down = right_shift != 0 ? 1 : 0;
  const int32x4_t low = vdupq_n_s32(p.min);
  const int32x4_t high = vdupq_n_s32(p.max);
  const int32_t a_offset = p.a_offset;
  const int32_t b_offset = p.b_offset;
  const int32_t y_offset = p.y_offset;
  const int32_t mult = p.mult;
  for (uint32_t left = row.count; left != 0; left = left > 4 ? left - 4 : 0) {
    const mve_pred16_t lanes = vctp32q(left);
    const int32x4_t product = vmulq_s32(vaddq_n_s32(four(row.a, row.a_step, lanes), a_offset),
                                        vaddq_n_s32(four(row.b, row.b_step, lanes), b_offset));
    const int32x4_t scaled = vqrdmulhq_n_s32(vshlq_r_s32(product, left_shift), mult);
    const int32x4_t whole = vrshlq_n_s32(vqdmlahq_n_s32(scaled, scaled, down), right_shift);
    const int32x4_t code = vminq_s32(vmaxq_s32(vqaddq_n_s32(whole, y_offset), low), high);
    vstrbq_p_s32(row.y, code, lanes);
    row.a += 4 * row.a_step;
    row.b += 4 * row.b_step;
    row.y += 4;
  }
}

THIMBLE_DEFINE_BARE_KERNEL(mve, thimble_mul_nest, check_mul_nest, run);

}  // namespace thimble::kernels

#endif
