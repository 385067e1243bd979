// SPDX-License-Identifier: Apache-2.0
// cortex_m::softmax on Helium, four exponentials at a time; formula and names of the steps:
// numerics/softmax.h. Exponentials are computed twice, once for the sum and once for the result.
// Rows that could saturate the sum are computed by the portable function.

#include "abi/ops/stock.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include <arm_mve.h>

#include "kernels/args/stock_softmax.h"
#include "kernels/define_kernel.h"
#include "kernels/mve/requant.h"

namespace thimble::kernels {
namespace {

constexpr int32_t kQuarter = 1 << 24;
constexpr int32_t kExpMinusEighth = 1895147668;
constexpr int32_t kOneThird = 715827883;

class Row {
 public:
  Row(const numerics::Softmax& softmax, const int8_t* x, int32_t count)
      : softmax_(softmax), x_(x), count_(count), maximum_(maximum()) {
    least_ = softmax.diff_min < -255 ? -255 : softmax.diff_min;
  }

  void run(int8_t* y) const {
    const uint32_t sum = sum_of_exps();
    const int32_t headroom = numerics::count_leading_zeros(sum);
    const int32_t scale =
        numerics::one_over_one_plus_x(static_cast<int32_t>((sum << headroom) ^ 1U << 31));
    const int32_t right = 12 - headroom + 23;
    for (int32_t i = 0; i < count_; i += 4) {
      const mve_pred16_t lanes = vctp32q(static_cast<uint32_t>(count_ - i));
      const int32x4_t product = vqrdmulhq_n_s32(exps(i, lanes), scale);
      const int32x4_t value = vrshlq_n_s32(product, -right);
      vstrbq_p_s32(y + i, vminq_s32(vsubq_n_s32(value, 128), vdupq_n_s32(127)), lanes);
    }
  }

 private:
  int32_t maximum() const {
    int8_t largest = -128;
    for (int32_t i = 0; i < count_; i += 16) {
      const mve_pred16_t lanes = vctp8q(static_cast<uint32_t>(count_ - i));
      largest = vmaxvq_p_s8(largest, vldrbq_z_s8(x_ + i, lanes), lanes);
    }
    return largest;
  }

  /// The sum of the exponentials in Q12.19; the maximum alone gives 2^19.
  uint32_t sum_of_exps() const {
    int32x4_t sums = vdupq_n_s32(0);
    for (int32_t i = 0; i < count_; i += 4) {
      const mve_pred16_t lanes = vctp32q(static_cast<uint32_t>(count_ - i));
      sums = vaddq_m_s32(sums, sums, vrshrq_n_s32(exps(i, lanes), 12), lanes);
    }
    return static_cast<uint32_t>(vaddvq_s32(sums));
  }

  /// exp(s_x * (x - maximum)) of four elements, 0 for those below the least difference. All
  /// intermediate sums that are divided are positive, so that vrshr rounds as defined.
  int32x4_t exps(int32_t i, mve_pred16_t lanes) const {
    const int32x4_t difference = vsubq_n_s32(vldrbq_z_s32(x_ + i, lanes), maximum_);
    const int32x4_t x = vqrdmulhq_n_s32(vshlq_r_s32(difference, softmax_.shift), softmax_.mult);
    const int32x4_t in_quarter = vsubq_n_s32(vandq_s32(x, vdupq_n_s32(kQuarter - 1)), kQuarter);
    const int32x4_t remainder = vsubq_s32(in_quarter, x);
    const int32x4_t a = vaddq_n_s32(vshlq_n_s32(in_quarter, 5), 1 << 28);
    const int32x4_t a2 = vqrdmulhq_s32(a, a);
    const int32x4_t a3 = vqrdmulhq_s32(a2, a);
    const int32x4_t a4_over_4 = vrshrq_n_s32(vqrdmulhq_s32(a2, a2), 2);
    const int32x4_t tail =
        vrshrq_n_s32(vaddq_s32(vqrdmulhq_n_s32(vaddq_s32(a4_over_4, a3), kOneThird), a2), 1);
    int32x4_t result =
        vaddq_n_s32(vqrdmulhq_n_s32(vaddq_s32(a, tail), kExpMinusEighth), kExpMinusEighth);
    result = times<7, 1672461947>(result, remainder);
    result = times<6, 1302514674>(result, remainder);
    result = times<5, 790015084>(result, remainder);
    result = times<4, 290630308>(result, remainder);
    result = times<3, 39332535>(result, remainder);
    result = times<2, 720401>(result, remainder);
    result = times<1, 242>(result, remainder);
    result = vdupq_m_n_s32(result, INT32_MAX, vcmpeqq_n_s32(x, 0));
    return vdupq_m_n_s32(result, 0, vcmpltq_n_s32(difference, least_));
  }

  /// Multiplies lanes whose bit 31 - kShift of the remainder is set.
  template <int kShift, int32_t kFactor>
  static int32x4_t times(int32x4_t result, int32x4_t remainder) {
    const mve_pred16_t set = vcmpltq_n_s32(vshlq_n_s32(remainder, kShift), 0);
    return vqrdmulhq_m_n_s32(result, result, kFactor, set);
  }

  const numerics::Softmax& softmax_;
  const int8_t* x_;
  int32_t count_, maximum_, least_;
};

void run(const Call& call) {
  for_each_softmax_row(
      call, [](const numerics::Softmax& softmax, const int8_t* x, int32_t count, int8_t* y) {
        if (count > numerics::kSoftmaxCmsisRow) {
          softmax.row(x, count, y);
        } else {
          Row(softmax, x, count).run(y);
        }
      });
}

}  // namespace

THIMBLE_DEFINE_KERNEL(mve, cortex_m_softmax, check_stock_softmax, run);

}  // namespace thimble::kernels
#endif
