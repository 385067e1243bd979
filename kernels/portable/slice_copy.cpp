// SPDX-License-Identifier: Apache-2.0
// aten::slice_copy: x[start:end:step] along one dimension. Any element type; logical shapes, any
// dim_order.
//
// Operands: x, dim, start, end, step, y. Negative dim, start and end count from the end; start and
// end are clamped to the dimension. An absent start is 0; an absent end is the size of the
// dimension.

#include "abi/ops/aten.h"
#include "kernels/args/move.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

int64_t position(int64_t index, int64_t size, int64_t absent) {
  if (index == kAbsent) return absent;
  if (index < 0) index += size;
  return index < 0 ? 0 : index > size ? size : index;
}

uint32_t dimension(const Call& call) {
  const int64_t dim = call.args[1].integer;
  return static_cast<uint32_t>(dim < 0 ? dim + tensor(call, 0).rank : dim);
}

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const int64_t dim = call.args[1].integer;
  const int64_t step = call.args[4].integer;
  const Tensor& y = tensor(call, 5);
  THIMBLE_RETURN_IF_ERROR(check_pair(x, y));
  if (x.rank != y.rank) return Status::kBadShape;
  if (dim < -int64_t{x.rank} || dim >= x.rank || step < 1) return Status::kBadParameter;
  const int64_t size = x.sizes[dimension(call)];
  const int64_t start = position(call.args[2].integer, size, 0);
  const int64_t end = position(call.args[3].integer, size, size);
  if (start >= end) return Status::kBadShape;
  for (uint32_t d = 0; d < x.rank; ++d) {
    const int64_t expected = d == dimension(call) ? (end - 1 - start) / step + 1 : x.sizes[d];
    if (y.sizes[d] != expected) return Status::kBadShape;
  }
  return Status::kOk;
}

void run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 5);
  const uint32_t dim = dimension(call);
  int32_t steps[abi::kMaxRank];
  byte_strides(x, steps);
  const int64_t start = position(call.args[2].integer, x.sizes[dim], 0) * steps[dim];
  // With one element the step is not used and may have any value.
  if (y.sizes[dim] > 1) steps[dim] *= static_cast<int32_t>(call.args[4].integer);
  Move move = gather(y, x, steps);
  move.from += start;
  run_move(move);
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, aten_slice_copy, check, run);

}  // namespace thimble::kernels
