// SPDX-License-Identifier: Apache-2.0
// thimble::permute: dimension i of the output is dimension dims[i] of the input, by logical shape.
// x and y may have any dim_order, and elements any size.
//
// Operands: x, parameters, y.

#include "abi/ops/movement.h"
#include "abi/params/movement.h"
#include "kernels/args/move.h"
#include "kernels/args/params.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

using abi::PermuteParams;

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  THIMBLE_RETURN_IF_ERROR(check_pair(x, y));
  if (x.rank != y.rank) return Status::kBadShape;
  if (x.rank == 0) return check_params<abi::op_info::thimble_permute>(tensor(call, 1));
  THIMBLE_RETURN_IF_ERROR(
      check_params_and_dims<abi::op_info::thimble_permute>(tensor(call, 1), x.rank));
  const abi::IntTail& dims = params<abi::op_info::thimble_permute>(tensor(call, 1)).dims;
  if (dims.count != x.rank) return Status::kBadParameter;
  for (uint32_t d = 0; d < x.rank; ++d) {
    if (y.sizes[d] != x.sizes[dims.items()[d]]) return Status::kBadShape;
  }
  return Status::kOk;
}

struct Axis {
  int32_t extent, to_step, from_step;
};

/// Returns the axis to use as the innermost loop: an axis that is contiguous in both operands, else
/// the longest axis, which minimizes the work per row.
uint32_t innermost(const Axis* axes, uint32_t rank, int32_t element) {
  uint32_t best = rank - 1;
  for (uint32_t a = 0; a < rank; ++a) {
    const bool run = axes[a].to_step == element && axes[a].from_step == element;
    if (run && axes[a].extent > 1) return a;
    if (axes[a].extent > axes[best].extent) best = a;
  }
  return best;
}

void run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  const int32_t* const dims = params<abi::op_info::thimble_permute>(tensor(call, 1)).dims.items();
  int32_t from[abi::kMaxRank];
  int32_t to[abi::kMaxRank];
  byte_strides(x, from);
  byte_strides(y, to);
  Axis axes[abi::kMaxRank];
  for (uint32_t p = 0; p < y.rank; ++p) {
    const uint32_t d = y.dim_order[p];
    axes[p] = {y.sizes[d], to[d], from[dims[d]]};
  }
  Move move;
  move.to = static_cast<uint8_t*>(y.data);
  move.from = static_cast<const uint8_t*>(x.data);
  move.element = static_cast<int32_t>(element_bytes(y.dtype));
  if (y.rank > 0) {
    const uint32_t last = innermost(axes, y.rank, move.element);
    for (uint32_t p = 0; p < y.rank; ++p) {
      if (p != last) move.iterator.push(axes[p].extent, axes[p].to_step, axes[p].from_step);
    }
    move.iterator.push(axes[last].extent, axes[last].to_step, axes[last].from_step);
  }
  run_move(move);
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_permute, check, run);

}  // namespace thimble::kernels
