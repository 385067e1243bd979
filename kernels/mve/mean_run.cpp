// SPDX-License-Identifier: Apache-2.0
// Means of eight elements at a time, or of one element if its values are contiguous.

#include "abi/ops/reduction.h"
#include "abi/params/reduction.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE

#include "kernels/args/loop_nest.h"
#include "kernels/args/mean_run.h"
#include "kernels/define_kernel.h"
#include "kernels/mve/column_sums.h"

namespace thimble::kernels {
namespace {

/// Requantization of docs/numerics.md with any shift.
class Scale {
 public:
  explicit Scale(const abi::MeanRun& p)
      : offset_(static_cast<int32_t>(p.count) * p.mean.x_offset),
        left_(p.mean.shift > 0 ? p.mean.shift : 0),
        right_(p.mean.shift > 0 ? 0 : p.mean.shift),
        p_(p.mean) {}

  int32x4_t codes(int32x4_t sums) const {
    const int32x4_t shifted = vshlq_r_s32(vaddq_n_s32(sums, offset_), left_);
    const int32x4_t high = vqrdmulhq_n_s32(shifted, p_.mult);
    const int32x4_t scaled = vrshlq_n_s32(vqdmlahq_n_s32(high, high, right_ != 0 ? 1 : 0), right_);
    const int32x4_t code = vaddq_n_s32(scaled, p_.y_offset);
    return vminq_s32(vmaxq_s32(code, vdupq_n_s32(p_.min)), vdupq_n_s32(p_.max));
  }

 private:
  int32_t offset_, left_, right_;
  const abi::MeanParams& p_;
};

int32_t sum_of(const int8_t* x, uint32_t count) {
  int32_t sum = 0;
  for (; count >= 16; count -= 16, x += 16) sum = vaddvaq_s8(sum, vldrbq_s8(x));
  return vaddvaq_p_s8(sum, vldrbq_z_s8(x, vctp8q(count)), vctp8q(count));
}

void run(void* const* operands) {
  const abi::MeanRun& p = packed<abi::op_info::thimble_mean_run>(operands[1]);
  const auto* x = static_cast<const int8_t*>(operands[0]);
  auto* y = static_cast<int8_t*>(operands[2]);
  const Scale scale(p);
  for (uint32_t o = 0; o < p.outer; ++o, x += p.count * p.inner) {
    if (p.inner == 1) {
      *y++ = static_cast<int8_t>(vgetq_lane_s32(scale.codes(vdupq_n_s32(sum_of(x, p.count))), 0));
      continue;
    }
    for (uint32_t i = 0; i < p.inner; i += 8) {
      const mve_pred16_t lanes = vctp16q(p.inner - i);
      mve::ColumnSums sums;
      sums.add(x + i, p.count, p.inner, lanes);
      sums.flush();
      const int16x8_t even = vreinterpretq_s16_s32(scale.codes(sums.even));
      vstrbq_p_s16(y + i, vmovntq_s32(even, scale.codes(sums.odd)), lanes);
    }
    y += p.inner;
  }
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(mve, thimble_mean_run, check_mean_run, run);

}  // namespace thimble::kernels

#endif
