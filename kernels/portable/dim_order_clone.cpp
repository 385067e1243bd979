// SPDX-License-Identifier: Apache-2.0
// dim_order_ops::_clone_dim_order: copies elements to the dim_order of the output. Any rank up to
// kMaxRank, any element type, any permutation.
//
// Operands: x, non_blocking (0), dim_order (of the output; empty if the file has none), y.

#include "abi/ops/decomposed.h"
#include "kernels/args/move.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const IntList& order = ints(call, 2);
  const Tensor& y = tensor(call, 3);
  THIMBLE_RETURN_IF_ERROR(check_pair(x, y));
  if (!same_sizes(x, y)) return Status::kBadShape;
  if (call.args[1].integer != 0) return Status::kBadParameter;
  if (order.count == 0) return Status::kOk;
  if (order.count != y.rank) return Status::kBadParameter;
  for (uint32_t p = 0; p < y.rank; ++p) {
    if (order.items[p] != y.dim_order[p]) return Status::kBadDimOrder;
  }
  return Status::kOk;
}

void run(const Call& call) {
  int32_t steps[abi::kMaxRank];
  byte_strides(tensor(call, 0), steps);
  Move move = gather(tensor(call, 3), tensor(call, 0), steps);
  run_move(move);
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, dim_order_clone, check, run);

}  // namespace thimble::kernels
