// SPDX-License-Identifier: Apache-2.0
// Norms of int8 rows, four elements at a time; formula: docs/numerics.md, "Norms".

#include "abi/ops/normalization.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE

#include <arm_mve.h>

#include "kernels/args/norm_impl.h"
#include "kernels/args/norm_kernels.h"
#include "kernels/define_kernel.h"
#include "kernels/mve/requant.h"

namespace thimble::kernels {
namespace {

/// The computation of four elements of a row.
class Four {
 public:
  Four(const Norm& norm, int32_t n, int32_t middle, const NarrowScale& scale)
      : norm_(norm), scale_(scale), n_(n), middle_(middle) {
    down_ = norm.shift != 0 ? mve::negative_rounding_correction(norm.y_zp, norm.min) : 0;
  }

  [[nodiscard]] int32x4_t normalized(int32x4_t x) const {
    const int32x4_t difference = vsubq_n_s32(vmulq_n_s32(x, n_), middle_);
    return vrmulhq_s32(vshlq_r_s32(difference, scale_.shift), vdupq_n_s32(scale_.factor));
  }
  /// `w` has 16 bits.
  [[nodiscard]] static int32x4_t weighted(int32x4_t a, int32x4_t w) {
    return vrmulhq_s32(vshlq_n_s32(a, 1), vshlq_n_s32(w, 16));
  }
  [[nodiscard]] int32x4_t codes(int32x4_t a) const {
    const int32x4_t code = vaddq_n_s32(
        mve::divide(vqrdmulhq_n_s32(a, norm_.mult), vdupq_n_s32(norm_.shift), down_), norm_.y_zp);
    return vminq_s32(vmaxq_s32(code, vdupq_n_s32(norm_.min)), vdupq_n_s32(norm_.max));
  }

 private:
  const Norm& norm_;
  NarrowScale scale_;
  int32_t n_, middle_, down_;
};

struct MveNorm : Norm {
  using Norm::Norm;

  void run(const int8_t* x, int8_t* y, const NormRow& row, int32_t entry) const {
    const int32_t n = row.count();
    const NormSums sums = sums_of(x, row);
    const int32_t middle = centered ? sums.codes : n * zero;
    const Four four(*this, n, middle, NarrowScale(scale_of(sums, *this, n)));
    for (int32_t o = 0; o < row.outer; ++o) {
      const int32_t at = entry + o * row.outer_entry;
      const int8_t* const from = x + o * row.step;
      int8_t* const to = y + o * row.step;
      if (row.inner_entry != 0 && w != nullptr && b != nullptr) {
        entries(four, from, to, row.inner, w + at, b + at);
      } else {
        general(four, from, to, row.inner, at, row.inner_entry != 0);
      }
    }
  }

 private:
  [[nodiscard]] NormSums sums_of(const int8_t* x, const NormRow& row) const {
    constexpr int32_t kBlock = NormWords<int8_t>::kBlock;
    int32_t codes = 0;
    uint64_t squares = 0;
    for (int32_t o = 0; o < row.outer; ++o) {
      const int8_t* const run = x + o * row.step;
      for (int32_t first = 0; first < row.inner; first += kBlock) {
        const int32_t end = row.inner - first < kBlock ? row.inner : first + kBlock;
        int32_t block = 0, i = first;
        for (; i + 16 <= end; i += 16) {
          const int8x16_t values = vldrbq_s8(run + i);
          codes = vaddvaq_s8(codes, values);
          block = vmladavaq_s8(block, values, values);
        }
        if (i < end) {
          const int8x16_t values = vldrbq_z_s8(run + i, vctp8q(static_cast<uint32_t>(end - i)));
          codes = vaddvaq_s8(codes, values);
          block = vmladavaq_s8(block, values, values);
        }
        squares += static_cast<uint32_t>(block);
      }
    }
    if (zero == 0) return {codes, squares};
    // sum (x - z)^2 = sum x^2 - 2 z sum x + n z^2
    const int64_t n = row.count();
    const int64_t rest = n * zero * zero - 2 * int64_t{zero} * codes;
    return {codes - row.count() * zero, squares + static_cast<uint64_t>(rest)};
  }

  /// Elements with a factor and a term each.
  static void entries(const Four& four, const int8_t* x, int8_t* y, int32_t count,
                      const int16_t* factor, const int32_t* term) {
    int32_t i = 0;
    for (; i + 4 <= count; i += 4) {
      const int32x4_t a =
          Four::weighted(four.normalized(vldrbq_s32(x + i)), vldrhq_s32(factor + i));
      vstrbq_s32(y + i, four.codes(vaddq_s32(a, vldrwq_s32(term + i))));
    }
    if (i == count) return;
    const mve_pred16_t lanes = vctp32q(static_cast<uint32_t>(count - i));
    const int32x4_t a = Four::weighted(four.normalized(vldrbq_z_s32(x + i, lanes)),
                                       vldrhq_z_s32(factor + i, lanes));
    vstrbq_p_s32(y + i, four.codes(vaddq_s32(a, vldrwq_z_s32(term + i, lanes))), lanes);
  }

  /// Elements without factors or terms, or with one for all. `at`: their first entry.
  void general(const Four& four, const int8_t* x, int8_t* y, int32_t count, int32_t at,
               bool each) const {
    for (int32_t i = 0; i < count; i += 4) {
      const mve_pred16_t lanes = vctp32q(static_cast<uint32_t>(count - i));
      int32x4_t a = four.normalized(vldrbq_z_s32(x + i, lanes));
      if (w != nullptr) {
        a = Four::weighted(a, each ? vldrhq_z_s32(w + at + i, lanes) : vdupq_n_s32(w[at]));
      }
      if (b != nullptr) {
        a = vaddq_s32(a, each ? vldrwq_z_s32(b + at + i, lanes) : vdupq_n_s32(b[at]));
      }
      vstrbq_p_s32(y + i, four.codes(a), lanes);
    }
  }
};

using Layer = LayerNorm<int8_t, abi::op_info::thimble_layer_norm, MveNorm>;
using Group = GroupNorm<int8_t, abi::op_info::thimble_group_norm, MveNorm>;
using Rms = RmsNorm<int8_t, abi::op_info::thimble_rms_norm, MveNorm>;

}  // namespace

THIMBLE_DEFINE_KERNEL(mve, thimble_layer_norm, Layer::check, Layer::run);
THIMBLE_DEFINE_KERNEL(mve, thimble_group_norm, Group::check, Group::run);
THIMBLE_DEFINE_KERNEL(mve, thimble_rms_norm, Rms::check, Rms::run);

}  // namespace thimble::kernels

#endif
