// Products of two activations. If the depth is innermost in both operands, four dot products are
// computed, sixteen values at a time. Otherwise four columns of b are computed at a time: each
// value of a is multiplied with a row of them.
//
// sum (a - a_zp) (b - b_zp) = sum a b - a_zp sum b - b_zp sum a + depth a_zp b_zp.

#include "abi/ops/linear.h"
#include "abi/ops/stock.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE

#include <arm_mve.h>

#include "kernels/args/batch_matmul.h"
#include "kernels/args/matmul.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

class Product {
 public:
  Product(const abi::MatmulParams& at, int32_t depth, int32_t columns)
      : at_(at),
        depth_(static_cast<uint32_t>(depth)),
        columns_(static_cast<uint32_t>(columns)),
        left_(at.shift > 0 ? at.shift : 0),
        right_(at.shift > 0 ? 0 : at.shift) {}

  void row(const int8_t* a, const int8_t* b, int8_t* y) const {
    const int32_t start = -at_.b_zp * (sum_of(a) - static_cast<int32_t>(depth_) * at_.a_zp);
    for (uint32_t column = 0; column < columns_; column += 4) {
      const uint32_t left = columns_ - column;
      const mve_pred16_t lanes = vctp32q(left);
      const int32x4_t sums = at_.transpose_b != 0
                                 ? vaddq_n_s32(dots(a, b + column * depth_, left), start)
                                 : columns(a, b + column, lanes, start);
      vstrbq_p_s32(y + column, codes_of(sums), lanes);
    }
  }

 private:
  int32_t sum_of(const int8_t* a) const {
    int32_t sum = 0;
    for (uint32_t k = 0; k < depth_; k += 16) {
      const mve_pred16_t lanes = vctp8q(depth_ - k);
      sum = vaddvaq_p_s8(sum, vldrbq_z_s8(a + k, lanes), lanes);
    }
    return sum;
  }

  /// Returns sum a b - a_zp sum b of up to four neighbouring columns. Missing columns repeat the
  /// last one.
  int32x4_t dots(const int8_t* a, const int8_t* b, uint32_t left) const {
    const int8_t* at[4];
    for (uint32_t c = 0; c < 4; ++c) at[c] = b + (c < left ? c : left - 1) * depth_;
    int32_t d0 = 0, d1 = 0, d2 = 0, d3 = 0;
    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (uint32_t k = 0; k < depth_; k += 16) {
      // Lanes beyond the depth are 0 in both operands.
      const mve_pred16_t lanes = vctp8q(depth_ - k);
      const int8x16_t codes = vldrbq_z_s8(a + k, lanes);
      const int8x16_t b0 = vldrbq_z_s8(at[0] + k, lanes);
      const int8x16_t b1 = vldrbq_z_s8(at[1] + k, lanes);
      const int8x16_t b2 = vldrbq_z_s8(at[2] + k, lanes);
      const int8x16_t b3 = vldrbq_z_s8(at[3] + k, lanes);
      d0 = vmladavaq_s8(d0, codes, b0);
      d1 = vmladavaq_s8(d1, codes, b1);
      d2 = vmladavaq_s8(d2, codes, b2);
      d3 = vmladavaq_s8(d3, codes, b3);
      s0 = vaddvaq_s8(s0, b0);
      s1 = vaddvaq_s8(s1, b1);
      s2 = vaddvaq_s8(s2, b2);
      s3 = vaddvaq_s8(s3, b3);
    }
    const int32_t sums[4] = {d0 - at_.a_zp * s0, d1 - at_.a_zp * s1, d2 - at_.a_zp * s2,
                             d3 - at_.a_zp * s3};
    return vld1q_s32(sums);
  }

  /// Returns start + sum (a - a_zp) b of four neighbouring columns.
  int32x4_t columns(const int8_t* a, const int8_t* b, mve_pred16_t lanes, int32_t start) const {
    int32x4_t sums = vdupq_n_s32(start);
    for (const int8_t* const end = a + depth_; a != end; b += columns_) {
      sums = vmlaq_n_s32(sums, vldrbq_z_s32(b, lanes), *a++ - at_.a_zp);
    }
    return sums;
  }

  int32x4_t codes_of(int32x4_t sums) const {
    const int32x4_t high = vqrdmulhq_n_s32(vshlq_r_s32(sums, left_), at_.mult);
    const int32x4_t code = vqaddq_n_s32(
        vrshlq_n_s32(vqdmlahq_n_s32(high, high, right_ != 0 ? 1 : 0), right_), at_.y_zp);
    return vminq_s32(vmaxq_s32(code, vdupq_n_s32(at_.min)), vdupq_n_s32(at_.max));
  }

  const abi::MatmulParams& at_;
  uint32_t depth_, columns_;
  int32_t left_, right_;
};

void run(const Call& call) {
  const Tensor& a = tensor(call, 0);
  const Tensor& b = tensor(call, 1);
  const Tensor& y = tensor(call, 3);
  const int32_t depth = size_at(a, 1);
  const int32_t columns = size_at(y, 1);
  const Product product(matmul_params(call), depth, columns);
  const int32_t rows = size_at(y, 2);
  StrideIterator iterator = matmul_batches(a, b, y);
  do {
    const StrideIterator::Axis& batches = iterator.row();
    for (int32_t i = 0; i < batches.extent; ++i) {
      const int8_t* a_row = codes(a) + iterator.offset[1] + i * batches.step[1];
      const int8_t* const matrix = codes(b) + iterator.offset[2] + i * batches.step[2];
      int8_t* y_row = mutable_codes(y) + iterator.offset[0] + i * batches.step[0];
      for (int32_t m = 0; m < rows; ++m) {
        product.row(a_row, matrix, y_row);
        a_row += depth;
        y_row += columns;
      }
    }
  } while (iterator.next());
}

void run_stock(const Call& call) {
  const BatchMatmul m = bind_batch_matmul(call, 8);
  const Product product(m.params, m.depth, m.columns);
  const int8_t* a = m.a;
  int8_t* y = m.y;
  for (int32_t n = 0; n < m.batches; ++n) {
    for (int32_t i = 0; i < m.rows; ++i) {
      product.row(a, m.b + n * m.columns * m.depth, y);
      a += m.depth;
      y += m.columns;
    }
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(mve, cortex_m_quantized_batch_matmul, check_batch_matmul<8>, run_stock);
THIMBLE_DEFINE_KERNEL(mve, thimble_matmul, check_matmul8, run);

}  // namespace thimble::kernels

#endif
