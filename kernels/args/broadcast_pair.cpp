// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/broadcast_pair.h"

namespace thimble::kernels {
namespace {

/// Step of `t` along dimension d of an output of rank `rank`; shapes are aligned at the last
/// dimension.
int32_t broadcast_step(const Tensor& t, const int32_t* steps, uint32_t rank, uint32_t d) {
  const uint32_t missing = rank - t.rank;
  return d < missing || t.sizes[d - missing] == 1 ? 0 : steps[d - missing];
}

int32_t broadcast_size(const Tensor& t, uint32_t rank, uint32_t d) {
  const uint32_t missing = rank - t.rank;
  return d < missing ? 1 : t.sizes[d - missing];
}

}  // namespace

Status check_broadcast_pair(const Tensor& a, const Tensor& b, const Tensor& y) {
  if (a.rank > y.rank || b.rank > y.rank) return Status::kBadShape;
  for (uint32_t d = 0; d < y.rank; ++d) {
    const int32_t size_a = broadcast_size(a, y.rank, d);
    const int32_t size_b = broadcast_size(b, y.rank, d);
    if (size_a != size_b && size_a != 1 && size_b != 1) return Status::kBadShape;
    if (y.sizes[d] != (size_a == 1 ? size_b : size_a)) return Status::kBadShape;
  }
  return Status::kOk;
}

StrideIterator broadcast_pair(const Tensor& y, const Tensor& a, const Tensor& b) {
  StrideIterator iterator;
  int32_t steps_y[abi::kMaxRank];
  int32_t steps_a[abi::kMaxRank];
  int32_t steps_b[abi::kMaxRank];
  strides(y, steps_y);
  strides(a, steps_a);
  strides(b, steps_b);
  for (uint32_t p = 0; p < y.rank; ++p) {
    const uint32_t d = y.dim_order[p];
    iterator.push(y.sizes[d], steps_y[d], broadcast_step(a, steps_a, y.rank, d),
                  broadcast_step(b, steps_b, y.rank, d));
  }
  return iterator;
}

Status check_floats(const Tensor& x, const Tensor& y) {
  THIMBLE_RETURN_IF_ERROR(check_tensor(x, DType::kF32));
  THIMBLE_RETURN_IF_ERROR(check_tensor(y, DType::kF32));
  return same_sizes(x, y) ? Status::kOk : Status::kBadShape;
}

}  // namespace thimble::kernels
