// SPDX-License-Identifier: Apache-2.0
// thimble::matmul: the product of two activations; formula: docs/numerics.md, "Matrix product".
// Leading dimensions are batches and broadcast. Memory is contiguous in logical order.
//
// Operands: a, b, parameters, y.
//
// sum (a - a_zp) (b - b_zp) = sum (a - a_zp) b - b_zp * sum (a - a_zp). The last sum depends only
// on the row of a, so that the inner loops have a single offset, like those of linear.

#include "kernels/args/matmul.h"
#include "abi/ops/linear.h"

#include "kernels/define_kernel.h"
#include "kernels/portable/dot.h"

namespace thimble::kernels {
namespace {

constexpr uint32_t product(int32_t a, int32_t b) {
  return static_cast<uint32_t>(a * b);
}

/// As accumulate() of dot.h, for neighbouring columns of a matrix; `b_step` is the step along each
/// column.
template <int kColumns>
[[gnu::noinline]] void accumulate_columns(const int8_t* a, const int8_t* b, int32_t b_step,
                                          int32_t n, int32_t a_offset, uint32_t (&acc)[kColumns]) {
  const int8_t* const end = a + n;
  for (; a != end; b += b_step) {
    const int32_t value = *a++ + a_offset;
    for (int c = 0; c < kColumns; ++c) acc[c] += product(value, b[c]);
  }
}

struct Product {
  const abi::MatmulParams& params;
  int32_t depth, columns;

  int8_t finish(uint32_t sum) const {
    const abi::MatmulParams& at = params;
    const int32_t scaled = numerics::requantize(static_cast<int32_t>(sum), at.mult, at.shift);
    return static_cast<int8_t>(
        numerics::clamp(numerics::wrap_add(scaled, at.y_zp), at.min, at.max));
  }

  /// Computes `kColumns` elements of one row, starting at `column`.
  template <int kColumns>
  void part(const int8_t* a, const int8_t* b, uint32_t start, int32_t column, int8_t* y) const {
    uint32_t acc[kColumns];
    for (uint32_t& sum : acc) sum = start;
    if (params.transpose_b != 0) {
      accumulate(a, b + column * depth, depth, depth, -params.a_zp, acc);
    } else {
      accumulate_columns(a, b + column, columns, depth, -params.a_zp, acc);
    }
    for (int c = 0; c < kColumns; ++c) y[column + c] = finish(acc[c]);
  }

  void row(const int8_t* a, const int8_t* b, int8_t* y) const {
    int32_t sum = 0;
    for (int32_t k = 0; k < depth; ++k) sum += a[k] - params.a_zp;
    const uint32_t start = product(-params.b_zp, sum);
    int32_t column = 0;
    for (; column + 4 <= columns; column += 4) part<4>(a, b, start, column, y);
    for (; column < columns; ++column) part<1>(a, b, start, column, y);
  }
};

void run(const Call& call) {
  const Tensor& a = tensor(call, 0);
  const Tensor& b = tensor(call, 1);
  const Tensor& y = tensor(call, 3);
  const Product product = {matmul_params(call), size_at(a, 1), size_at(y, 1)};
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
        a_row += product.depth;
        y_row += product.columns;
      }
    }
  } while (iterator.next());
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_matmul, check_matmul8, run);

}  // namespace thimble::kernels
