// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/reduction.h"

namespace thimble::kernels {
namespace {

/// Returns the dimension of x for dimension d of y, or x.rank if d is a reduced dimension kept as
/// 1.
uint32_t source(const Tensor& x, const Tensor& y, uint32_t mask, uint32_t d) {
  if (y.rank == x.rank) return (mask >> d & 1) != 0 ? x.rank : d;
  for (uint32_t k = 0; k < x.rank; ++k) {
    if ((mask >> k & 1) != 0) continue;
    if (d-- == 0) return k;
  }
  return x.rank;
}

}  // namespace

Status check_reduced_sizes(const Tensor& x, const Tensor& y, uint32_t mask) {
  uint32_t kept = 0;
  for (uint32_t d = 0; d < x.rank; ++d) kept += (mask >> d & 1) != 0 ? 0 : 1;
  if (y.rank != x.rank && y.rank != kept) return Status::kBadShape;
  for (uint32_t d = 0; d < y.rank; ++d) {
    const uint32_t k = source(x, y, mask, d);
    if (y.sizes[d] != (k == x.rank ? 1 : x.sizes[k])) return Status::kBadShape;
  }
  return Status::kOk;
}

int64_t reduced_count(const Tensor& x, uint32_t mask) {
  int64_t count = 1;
  for (uint32_t d = 0; d < x.rank; ++d) {
    if ((mask >> d & 1) != 0) count *= x.sizes[d];
  }
  return count;
}

Reduction::Reduction(const Tensor& x, const Tensor& y, uint32_t mask) {
  int32_t steps_x[abi::kMaxRank];
  int32_t steps_y[abi::kMaxRank];
  strides(x, steps_x);
  strides(y, steps_y);
  for (uint32_t p = 0; p < y.rank; ++p) {
    const uint32_t d = y.dim_order[p];
    const uint32_t k = source(x, y, mask, d);
    if (k != x.rank) kept.push(y.sizes[d], steps_y[d], steps_x[k]);
  }
  for (uint32_t p = 0; p < x.rank; ++p) {
    const uint32_t d = x.dim_order[p];
    if ((mask >> d & 1) != 0) reduced.push(x.sizes[d], 0, steps_x[d]);
  }
}

}  // namespace thimble::kernels
