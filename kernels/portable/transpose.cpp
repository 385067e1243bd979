// SPDX-License-Identifier: Apache-2.0
// cortex_m::transpose: dimension i of the output is dimension perm[i] of the input.
//
// Operands: x, perm, y. The stock kernel uses logical sizes and ignores dim_order, so both tensors
// must be contiguous.

#include "abi/ops/stock.h"
#include "kernels/args/move.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const IntList& perm = ints(call, 1);
  const Tensor& y = tensor(call, 2);
  THIMBLE_RETURN_IF_ERROR(check_pair(x, y));
  if (x.rank != y.rank) return Status::kBadShape;
  if (!is_contiguous(x) || !is_contiguous(y)) return Status::kBadDimOrder;
  if (perm.count != x.rank) return Status::kBadParameter;
  uint32_t seen = 0;
  for (uint32_t d = 0; d < x.rank; ++d) {
    if (perm.items[d] < 0 || perm.items[d] >= x.rank) return Status::kBadParameter;
    seen |= 1U << perm.items[d];
    if (y.sizes[d] != x.sizes[perm.items[d]]) return Status::kBadShape;
  }
  return seen == (1U << x.rank) - 1 ? Status::kOk : Status::kBadParameter;
}

void run(const Call& call) {
  const Tensor& y = tensor(call, 2);
  int32_t steps[abi::kMaxRank];
  int32_t permuted[abi::kMaxRank] = {};
  byte_strides(tensor(call, 0), steps);
  for (uint32_t d = 0; d < y.rank; ++d) permuted[d] = steps[ints(call, 1).items[d]];
  Move move = gather(y, tensor(call, 0), permuted);
  run_move(move);
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, cortex_m_transpose, check, run);

}  // namespace thimble::kernels
