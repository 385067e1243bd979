// SPDX-License-Identifier: Apache-2.0
// aten::cat: concatenation along one dimension. Any element type; logical shapes, any dim_order.
//
// Operands: tensors, dim (negative: counts from the end), y.

#include "abi/ops/aten.h"
#include "kernels/args/move.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

uint32_t dimension(const Call& call) {
  const int64_t dim = call.args[1].integer;
  return static_cast<uint32_t>(dim < 0 ? dim + tensor(call, 2).rank : dim);
}

Status check(const Call& call) {
  const int64_t dim = call.args[1].integer;
  const Tensor& y = tensor(call, 2);
  THIMBLE_RETURN_IF_ERROR(check_tensor(y));
  if (dim < -int64_t{y.rank} || dim >= y.rank) return Status::kBadParameter;
  int64_t total = 0;
  for (uint32_t i = 0; i < call.args[0].list; ++i) {
    const Tensor x = call.list_item(call, 0, i);
    THIMBLE_RETURN_IF_ERROR(check_pair(x, y));
    if (x.rank != y.rank) return Status::kBadShape;
    for (uint32_t d = 0; d < x.rank; ++d) {
      if (d != dimension(call) && x.sizes[d] != y.sizes[d]) return Status::kBadShape;
    }
    total += x.sizes[dimension(call)];
  }
  return total == y.sizes[dimension(call)] ? Status::kOk : Status::kBadShape;
}

void run(const Call& call) {
  const Tensor& y = tensor(call, 2);
  int32_t steps[abi::kMaxRank];
  byte_strides(y, steps);
  int32_t offset = 0;
  for (uint32_t i = 0; i < call.args[0].list; ++i) {
    const Tensor x = call.list_item(call, 0, i);
    Move move = scatter(y, x, steps);
    move.to += offset;
    run_move(move);
    offset += x.sizes[dimension(call)] * steps[dimension(call)];
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, aten_cat, check, run);

}  // namespace thimble::kernels
