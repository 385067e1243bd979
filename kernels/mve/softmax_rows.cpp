// SPDX-License-Identifier: Apache-2.0
// thimble::softmax.packed on Helium: exponentials are gathered from the table, four at a time. The
// load of a gather takes a cycle for each element. Rows of two elements, and those whose sum could
// saturate, are computed by the portable functions.

#include "kernels/args/softmax_rows.h"
#include "abi/ops/normalization.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include <arm_mve.h>

#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

class Row {
 public:
  explicit Row(const abi::SoftmaxRows& p) : exp_(p.exp), length_(p.length) {}

  template <class Y>
  void run(const int8_t* x, Y* y) const {
    const int32_t maximum = maximum_of(x);
    uint32_t sum = sum_of_exps(x, maximum);
    // In a malicious constant, the table may give a smaller sum.
    if (sum < 1U << 16) sum = 1U << 16;
    const int32_t headroom = numerics::count_leading_zeros(sum);
    const int32_t scale = reciprocal<LongProduct>(sum << headroom ^ 1U << 31);
    const int32_t right = SoftmaxCode<Y>::kRight - headroom;
    uint32_t i = 0;
    if (right > 31) {  // the result of the maximum is below 1/512
      for (; i < length_; ++i) y[i] = SoftmaxCode<Y>::kZero;
      return;
    }
    for (; i + 4 <= length_; i += 4) {
      const uint32x4_t at = indices(vldrbq_s32(x + i), maximum);
      const uint32x4_t exps = vldrwq_gather_shifted_offset_u32(exp_, at);
      store(y + i, codes<Y>(exps, scale, right), vctp32q(4));
    }
    if (i == length_) return;
    const mve_pred16_t lanes = vctp32q(length_ - i);
    const uint32x4_t at = indices(vldrbq_z_s32(x + i, lanes), maximum);
    const uint32x4_t exps = vldrwq_gather_shifted_offset_z_u32(exp_, at, lanes);
    store(y + i, codes<Y>(exps, scale, right), lanes);
  }

 private:
  /// Returns the entries of the table. The index is masked, because a malicious overlap of y and x
  /// may have changed x.
  static uint32x4_t indices(int32x4_t x, int32_t maximum) {
    const uint32x4_t below = vreinterpretq_u32_s32(vsubq_s32(vdupq_n_s32(maximum), x));
    return vandq_u32(below, vdupq_n_u32(255));
  }

  template <class Y>
  static int32x4_t codes(uint32x4_t exps, int32_t scale, int32_t right) {
    using Code = SoftmaxCode<Y>;
    const int32x4_t product = vqrdmulhq_n_s32(vreinterpretq_s32_u32(exps), scale);
    const int32x4_t above = vminq_s32(vrshlq_n_s32(product, -right), vdupq_n_s32(Code::kMost));
    return vaddq_n_s32(above, Code::kZero);
  }
  static void store(int8_t* y, int32x4_t codes, mve_pred16_t lanes) {
    vstrbq_p_s32(y, codes, lanes);
  }
  static void store(int16_t* y, int32x4_t codes, mve_pred16_t lanes) {
    vstrhq_p_s32(y, codes, lanes);
  }

  int32_t maximum_of(const int8_t* x) const {
    int8_t largest = -128;
    uint32_t i = 0;
    for (; i + 16 <= length_; i += 16) largest = vmaxvq_s8(largest, vldrbq_s8(x + i));
    if (i == length_) return largest;
    const mve_pred16_t lanes = vctp8q(length_ - i);
    return vmaxvq_p_s8(largest, vldrbq_z_s8(x + i, lanes), lanes);
  }

  /// Returns the sum of the exponentials in Q12.19.
  uint32_t sum_of_exps(const int8_t* x, int32_t maximum) const {
    uint32_t sum = 0, i = 0;
    for (; i + 4 <= length_; i += 4) {
      const uint32x4_t at =
          vreinterpretq_u32_s32(vsubq_s32(vdupq_n_s32(maximum), vldrbq_s32(x + i)));
      sum = vaddvaq_u32(sum, vrshrq_n_u32(vldrwq_gather_shifted_offset_u32(exp_, at), 12));
    }
    if (i == length_) return sum;
    const mve_pred16_t lanes = vctp32q(length_ - i);
    const uint32x4_t at = indices(vldrbq_z_s32(x + i, lanes), maximum);
    const uint32x4_t exps = vldrwq_gather_shifted_offset_z_u32(exp_, at, lanes);
    return vaddvaq_u32(sum, vrshrq_n_u32(exps, 12));
  }

  const uint32_t* exp_;
  uint32_t length_;
};

void run(void* const* operands) {
  const abi::SoftmaxRows& p = packed<abi::op_info::thimble_softmax_rows>(operands[1]);
  if (p.length == 2 || p.length > static_cast<uint32_t>(numerics::kSoftmaxCmsisRow)) {
    softmax_rows<LongProduct>(operands);
    return;
  }
  const Row row(p);
  const auto* x = static_cast<const int8_t*>(operands[0]);
  auto* y = static_cast<uint8_t*>(operands[2]);
  for (uint32_t left = p.rows; left != 0; --left) {
    if (p.wide != 0) {
      row.run(x, reinterpret_cast<int16_t*>(y));
    } else {
      row.run(x, reinterpret_cast<int8_t*>(y));
    }
    x += p.length;
    y += p.length << p.wide;
  }
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(mve, thimble_softmax_rows, check_softmax_rows, run);

}  // namespace thimble::kernels
#endif
