// SPDX-License-Identifier: Apache-2.0
// thimble::add.i16, sub.i16 and lut.i16 on Helium, four elements at a time; formulas:
// docs/numerics.md, "16-bit activations".

#include "abi/ops/arithmetic.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE

#include <arm_mve.h>

#include "abi/params/arithmetic.h"
#include "kernels/args/broadcast.h"
#include "kernels/args/int16_elementwise.h"
#include "kernels/args/params.h"
#include "kernels/args/requant16.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

/// numerics::requantize() with one multiplier and shift.
class Scale {
 public:
  Scale(int32_t mult, int32_t shift)
      : mult_(mult),
        left_(shift > 0 ? shift : 0),
        right_(shift > 0 ? 0 : shift),
        down_(right_ != 0 ? 1 : 0) {}
  [[nodiscard]] int32x4_t operator()(int32x4_t value) const {
    const int32x4_t scaled = vqrdmulhq_n_s32(vshlq_r_s32(value, left_), mult_);
    return vrshlq_n_s32(vqdmlahq_n_s32(scaled, scaled, down_), right_);
  }

 private:
  int32_t mult_, left_, right_;
  int32_t down_;  // 1: halves of negative values round away from zero
};

/// Four elements, `step` apart.
int32x4_t four(const int16_t* x, int32_t step, mve_pred16_t lanes) {
  if (step == 1) return vldrhq_z_s32(x, lanes);
  if (step == 0) return vdupq_n_s32(*x);
  const uint32x4_t places = vmulq_n_u32(vidupq_n_u32(0, 1), static_cast<uint32_t>(step));
  return vldrhq_gather_shifted_offset_z_s32(x, places, lanes);
}

template <bool kSubtract>
void run_add(const Call& call) {
  const abi::Add16Params& p = params<abi::op_info::thimble_add16>(tensor(call, 2));
  const Tensor* const operands[] = {&tensor(call, 0), &tensor(call, 1)};
  const Tensor& out = tensor(call, 3);
  StrideIterator iterator = broadcast_iterator(operands, 2, out);
  const Scale scale_a(p.a_mult, p.a_shift), scale_b(p.b_mult, p.b_shift);
  const Scale scale_y(p.y_mult, p.y_shift);
  int16_t* y = mutable_codes16(out);
  do {
    const StrideIterator::Axis& row = iterator.row();
    const int16_t* a = codes16(*operands[0]) + iterator.offset[0];
    const int16_t* b = codes16(*operands[1]) + iterator.offset[1];
    for (int32_t left = row.extent; left > 0; left -= 4) {
      const mve_pred16_t lanes = vctp32q(static_cast<uint32_t>(left));
      const int32x4_t first = scale_a(vshlq_n_s32(four(a, row.step[0], lanes), 15));
      const int32x4_t second = scale_b(vshlq_n_s32(four(b, row.step[1], lanes), 15));
      const int32x4_t sum = kSubtract ? vsubq_s32(first, second) : vaddq_s32(first, second);
      const int32x4_t low = vmaxq_s32(scale_y(sum), vdupq_n_s32(p.min));
      vstrhq_p_s32(y, vminq_s32(low, vdupq_n_s32(p.max)), lanes);
      a += 4 * row.step[0];
      b += 4 * row.step[1];
      y += left < 4 ? left : 4;
    }
  } while (iterator.next());
}

/// The interpolated value is between the two entries, so that it needs no clamp.
void run_lut(const Call& call) {
  const int16_t* x = codes16(tensor(call, 0));
  const int16_t* table = codes16(tensor(call, 1));
  int16_t* y = mutable_codes16(tensor(call, 2));
  for (int32_t left = elements(tensor(call, 2)); left > 0; left -= 4) {
    const mve_pred16_t lanes = vctp32q(static_cast<uint32_t>(left));
    const int32x4_t code = vldrhq_z_s32(x, lanes);
    const auto at = vreinterpretq_u32_s32(vaddq_n_s32(vshrq_n_s32(code, 7), 256));
    const int32x4_t rest = vandq_s32(code, vdupq_n_s32(127));
    const int32x4_t below = vldrhq_gather_shifted_offset_z_s32(table, at, lanes);
    const int32x4_t above = vldrhq_gather_shifted_offset_z_s32(table + 1, at, lanes);
    const int32x4_t rise = vrshrq_n_s32(vmulq_s32(vsubq_s32(above, below), rest), 7);
    vstrhq_p_s32(y, vaddq_s32(below, rise), lanes);
    x += 4;
    y += 4;
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(mve, thimble_add16, check_add16, run_add<false>);
THIMBLE_DEFINE_KERNEL(mve, thimble_lut16, check_lut16, run_lut);
THIMBLE_DEFINE_KERNEL(mve, thimble_sub16, check_add16, run_add<true>);

}  // namespace thimble::kernels

#endif
