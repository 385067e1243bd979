// SPDX-License-Identifier: Apache-2.0
// aten::expand_copy: repeats dimensions of size 1, and adds leading dimensions. Any element type;
// logical shapes, any dim_order.
//
// Operands: x, sizes (-1: size of x), implicit (0), y.

#include "abi/ops/aten.h"
#include "kernels/args/move.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const IntList& sizes = ints(call, 1);
  const Tensor& y = tensor(call, 3);
  THIMBLE_RETURN_IF_ERROR(check_pair(x, y));
  if (x.rank > y.rank) return Status::kBadShape;
  if (sizes.count != y.rank || call.args[2].integer != 0) return Status::kBadParameter;
  const uint32_t missing = static_cast<uint32_t>(y.rank - x.rank);
  for (uint32_t d = 0; d < y.rank; ++d) {
    const bool same = sizes.items[d] == -1 && d >= missing;
    if (!same && sizes.items[d] != y.sizes[d]) return Status::kBadShape;
    if (d < missing) continue;
    const int32_t size = x.sizes[d - missing];
    if (size != y.sizes[d] && (size != 1 || same)) return Status::kBadShape;
  }
  return Status::kOk;
}

void run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 3);
  int32_t steps[abi::kMaxRank];
  int32_t expanded[abi::kMaxRank] = {};
  byte_strides(x, steps);
  const uint32_t missing = static_cast<uint32_t>(y.rank - x.rank);
  for (uint32_t d = 0; d < x.rank; ++d) {
    if (x.sizes[d] != 1) expanded[d + missing] = steps[d];
  }
  Move move = gather(y, x, expanded);
  run_move(move);
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, aten_expand_copy, check, run);

}  // namespace thimble::kernels
