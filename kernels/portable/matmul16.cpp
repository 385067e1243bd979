// SPDX-License-Identifier: Apache-2.0
// thimble::matmul.i16: the product of two 16-bit activations; formula: docs/numerics.md,
// "16-bit activations". Shapes and memory: kernels/args/matmul.h.
//
// Operands: a, b, parameters, y.

#include "abi/ops/linear.h"
#include "abi/params/matmul.h"
#include "kernels/args/matmul.h"
#include "kernels/args/params.h"
#include "kernels/args/requant16.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

/// Products are at most 2^30, and requantize64 accepts sums below 2^47.
constexpr int32_t kDepthMax = 1 << 16;

using abi::Matmul16Params;

const Matmul16Params& params_of(const Call& call) {
  return params<abi::op_info::thimble_matmul16>(tensor(call, 2));
}

Status check(const Call& call) {
  THIMBLE_RETURN_IF_ERROR(check_params<abi::op_info::thimble_matmul16>(tensor(call, 2)));
  const Matmul16Params& p = params_of(call);
  const bool fine =
      (p.transpose_b & ~1) == 0 && is_scale16(p.mult, p.shift) && are_bounds16(p.min, p.max);
  if (!fine) return Status::kBadParameter;
  return check_matmul(tensor(call, 0), tensor(call, 1), tensor(call, 3), DType::kI16,
                      p.transpose_b != 0, kDepthMax);
}

struct Product16 {
  const Matmul16Params& params;
  int32_t depth, columns;

  /// Computes `kColumns` elements of one row, starting at `column`; they share the loads of a.
  template <int kColumns>
  void part(const int16_t* a, const int16_t* b, int32_t column, int16_t* y) const {
    const bool transposed = params.transpose_b != 0;
    const int32_t column_step = transposed ? depth : 1;
    const int32_t term_step = transposed ? 1 : columns;
    int64_t sums[kColumns] = {};
    b += column * column_step;
    for (int32_t k = 0; k < depth; ++k, b += term_step) {
      const int32_t value = a[k];
      for (int c = 0; c < kColumns; ++c)
        sums[c] += static_cast<int64_t>(value) * b[c * column_step];
    }
    for (int c = 0; c < kColumns; ++c) {
      const int32_t scaled = numerics::requantize64(sums[c], params.mult, params.shift);
      y[column + c] = static_cast<int16_t>(numerics::clamp(scaled, params.min, params.max));
    }
  }

  void row(const int16_t* a, const int16_t* b, int16_t* y) const {
    int32_t column = 0;
    for (; column + 2 <= columns; column += 2) part<2>(a, b, column, y);
    if (column < columns) part<1>(a, b, column, y);
  }
};

void run(const Call& call) {
  const Tensor& a = tensor(call, 0);
  const Tensor& b = tensor(call, 1);
  const Tensor& y = tensor(call, 3);
  const Product16 product = {params_of(call), size_at(a, 1), size_at(y, 1)};
  const int32_t rows = size_at(y, 2);
  StrideIterator iterator = matmul_batches(a, b, y);
  do {
    const StrideIterator::Axis& batches = iterator.row();
    for (int32_t i = 0; i < batches.extent; ++i) {
      const int16_t* a_row = codes16(a) + iterator.offset[1] + i * batches.step[1];
      const int16_t* const matrix = codes16(b) + iterator.offset[2] + i * batches.step[2];
      int16_t* y_row = mutable_codes16(y) + iterator.offset[0] + i * batches.step[0];
      for (int32_t m = 0; m < rows; ++m) {
        product.row(a_row, matrix, y_row);
        a_row += product.depth;
        y_row += product.columns;
      }
    }
  } while (iterator.next());
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_matmul16, check, run);

}  // namespace thimble::kernels
