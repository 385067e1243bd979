// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/matmul.h"

#include "abi/ops/linear.h"

namespace thimble::kernels {

Status check_matmul8(const Call& call) {
  THIMBLE_RETURN_IF_ERROR(check_params<abi::op_info::thimble_matmul>(tensor(call, 2)));
  const abi::MatmulParams& a = matmul_params(call);
  const bool fine = (a.transpose_b & ~1) == 0 && is_code(a.a_zp) && is_code(a.b_zp) &&
                    is_code(a.y_zp) && is_scale(a.mult, a.shift) && are_bounds(a.min, a.max) &&
                    a.rounding == 0;
  if (!fine) return Status::kBadParameter;
  return check_matmul(tensor(call, 0), tensor(call, 1), tensor(call, 3), DType::kI8,
                      a.transpose_b != 0, abi::kMaxMatmulDepth);
}

Status check_matmul(const Tensor& a, const Tensor& b, const Tensor& y, DType dtype, bool transposed,
                    int32_t depth_max) {
  const Tensor* const all[] = {&a, &b, &y};
  for (const Tensor* t : all) {
    THIMBLE_RETURN_IF_ERROR(check_tensor(*t, dtype));
    if (t->rank < 2) return Status::kBadShape;
    if (!is_contiguous(*t)) return Status::kBadDimOrder;
  }
  const int32_t depth = size_at(a, 1);
  const bool multiply = size_at(b, transposed ? 1 : 2) == depth &&
                        size_at(y, 1) == size_at(b, transposed ? 2 : 1) &&
                        size_at(y, 2) == size_at(a, 2);
  const uint32_t rank = a.rank > b.rank ? a.rank : b.rank;
  if (!multiply || depth > depth_max || y.rank != rank) return Status::kBadShape;
  for (uint32_t d = 3; d <= rank; ++d) {
    const int32_t size = size_at(y, d);
    const int32_t a_size = size_at(a, d);
    const int32_t b_size = size_at(b, d);
    const bool fits = (a_size == size || a_size == 1) && (b_size == size || b_size == 1) &&
                      (a_size == size || b_size == size);
    if (!fits) return Status::kBadShape;
  }
  return Status::kOk;
}

StrideIterator matmul_batches(const Tensor& a, const Tensor& b, const Tensor& y) {
  StrideIterator iterator;
  int32_t steps[3][abi::kMaxRank];
  strides(y, steps[0]);
  strides(a, steps[1]);
  strides(b, steps[2]);
  for (uint32_t d = y.rank; d > 2; --d) {
    const int32_t a_step = size_at(a, d) == 1 ? 0 : steps[1][a.rank - d];
    const int32_t b_step = size_at(b, d) == 1 ? 0 : steps[2][b.rank - d];
    iterator.push(size_at(y, d), steps[0][y.rank - d], a_step, b_step);
  }
  return iterator;
}

}  // namespace thimble::kernels
