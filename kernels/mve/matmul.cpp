// SPDX-License-Identifier: Apache-2.0
// Products of two activations. If the depth is innermost in both operands, the dot products of
// three rows of a and four of b are computed, sixteen values at a time. Otherwise four columns of b
// are computed at a time: each value of a is multiplied with a row of them.
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
#include "kernels/mve/product_block.h"
#include "kernels/mve/unpacked_block.h"

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

  /// Computes all rows of y; a and y are contiguous.
  void matrix(const int8_t* a, const int8_t* b, int8_t* y, int32_t rows) const {
    if (at_.transpose_b == 0 || columns_ < 4) {
      for (int32_t m = 0; m < rows; ++m) row(a + m * depth(), b, y + m * width());
      return;
    }
    // The last columns are computed together with columns before them, a second time.
    const auto last = static_cast<int32_t>(columns_ - 4);
    for (int32_t first = 0; first < width(); first += kTileColumns) {
      const int32_t left = width() - first;
      const int32_t count = (left < kTileColumns ? left : kTileColumns) & ~3;
      if (count != 0) tile(a, b, y, rows, first, count);
      if (left < kTileColumns && (left & 3) != 0) tile(a, b, y, rows, last, 4);
    }
  }

 private:
  static constexpr int32_t kTileColumns = 64;

  int32_t depth() const { return static_cast<int32_t>(depth_); }
  int32_t width() const { return static_cast<int32_t>(columns_); }
  /// Returns the sum of `count` values.
  static int32_t sum(const int8_t* values, uint32_t count) {
    return static_cast<int32_t>(mve::sum_of(values, count));
  }
  /// Returns the part of a sum that depends on the row of a.
  int32_t row_start(const int8_t* a) const {
    return at_.b_zp == 0 ? 0 : -at_.b_zp * (sum(a, depth_) - depth() * at_.a_zp);
  }

  /// Computes `count` columns from `first` on, a multiple of four.
  void tile(const int8_t* a, const int8_t* b, int8_t* y, int32_t rows, int32_t first,
            int32_t count) const {
    int32_t starts[kTileColumns];
    const int8_t* const columns = b + first * depth();
    for (int32_t i = 0; i < count; ++i) {
      starts[i] = at_.a_zp == 0 ? 0 : -at_.a_zp * sum(columns + i * depth(), depth_);
    }
    mve::ProductBlock block;
    block.depth = depth_;
    block.starts_end = starts + count;
    block.left = left_;
    block.mult = at_.mult;
    block.right = right_;
    block.y_zero_point = at_.y_zp;
    block.correction = right_ != 0 ? 1 : 0;
    block.min = at_.min;
    block.max = at_.max;
    for (int32_t m = 0; m < rows; m += 3) {
      for (int32_t k = 0; k < 3; ++k) {  // missing rows repeat the last one
        const int32_t at = m + k < rows ? m + k : rows - 1;
        block.a[k] = a + at * depth();
        block.y[k] = y + at * width() + first;
        block.row_start[k] = row_start(block.a[k]);
      }
      block.b = columns;
      block.starts = starts;
      multiply_products(&block);
    }
  }

  /// One row of y.
  void row(const int8_t* a, const int8_t* b, int8_t* y) const {
    const int32_t start = row_start(a);
    for (uint32_t column = 0; column < columns_; column += 4) {
      const uint32_t left = columns_ - column;
      const mve_pred16_t lanes = vctp32q(left);
      const int32x4_t sums = at_.transpose_b != 0 ? dots(a, b + column * depth_, left, start)
                                                  : columns(a, b + column, lanes, start);
      vstrbq_p_s32(y + column, codes_of(sums), lanes);
    }
  }

  /// Returns start + sum (a - a_zp) b of up to four columns, whose depth is innermost.
  int32x4_t dots(const int8_t* a, const int8_t* b, uint32_t count, int32_t start) const {
    int32_t sums[4] = {};
    for (uint32_t c = 0; c < count && c < 4; ++c, b += depth_) {
      for (uint32_t k = 0; k < depth_; ++k) sums[c] += (a[k] - at_.a_zp) * b[k];
    }
    return vaddq_n_s32(vld1q_s32(sums), start);
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
      product.matrix(codes(a) + iterator.offset[1] + i * batches.step[1],
                     codes(b) + iterator.offset[2] + i * batches.step[2],
                     mutable_codes(y) + iterator.offset[0] + i * batches.step[0], rows);
    }
  } while (iterator.next());
}

void run_stock(const Call& call) {
  const BatchMatmul m = bind_batch_matmul(call, 8);
  const Product product(m.params, m.depth, m.columns);
  for (int32_t n = 0; n < m.batches; ++n) {
    product.matrix(m.a + n * m.rows * m.depth, m.b + n * m.columns * m.depth,
                   m.y + n * m.rows * m.columns, m.rows);
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(mve, cortex_m_quantized_batch_matmul, check_batch_matmul<8>, run_stock);
THIMBLE_DEFINE_KERNEL(mve, thimble_matmul, check_matmul8, run);

}  // namespace thimble::kernels

#endif
