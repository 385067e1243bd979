// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/broadcast.h"

namespace thimble::kernels {
namespace {

/// Size of `t` along dimension d of an output of rank `rank`; shapes are aligned at the last
/// dimension.
int32_t size_at(const Tensor& t, uint32_t rank, uint32_t d) {
  const uint32_t missing = rank - t.rank;
  return d < missing ? 1 : t.sizes[d - missing];
}

}  // namespace

Status check_broadcast(const Tensor* const* operands, uint32_t count, const Tensor& y) {
  THIMBLE_RETURN_IF_ERROR(check_tensor(y));
  for (uint32_t i = 0; i < count; ++i) {
    THIMBLE_RETURN_IF_ERROR(check_tensor(*operands[i]));
    if (operands[i]->rank > y.rank) return Status::kBadShape;
  }
  for (uint32_t d = 0; d < y.rank; ++d) {
    int32_t joint = 1;
    for (uint32_t i = 0; i < count; ++i) {
      const int32_t size = size_at(*operands[i], y.rank, d);
      if (size == 1) continue;
      if (joint != 1 && joint != size) return Status::kBadShape;
      joint = size;
    }
    if (joint != y.sizes[d]) return Status::kBadShape;
  }
  return Status::kOk;
}

StrideIterator broadcast_iterator(const Tensor* const* operands, uint32_t count, const Tensor& y) {
  int32_t steps[3][abi::kMaxRank];
  for (uint32_t i = 0; i < count; ++i) strides(*operands[i], steps[i]);
  StrideIterator iterator;
  for (uint32_t place = 0; place < y.rank; ++place) {
    const uint32_t d = y.dim_order[place];
    int32_t step[3] = {};
    for (uint32_t i = 0; i < count; ++i) {
      const bool repeats = size_at(*operands[i], y.rank, d) == 1;
      step[i] = repeats ? 0 : steps[i][d - (y.rank - operands[i]->rank)];
    }
    iterator.push(y.sizes[d], step[0], step[1], step[2]);
  }
  return iterator;
}

}  // namespace thimble::kernels
