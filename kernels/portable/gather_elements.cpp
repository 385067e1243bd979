// SPDX-License-Identifier: Apache-2.0
// thimble::gather_elements: y[i,j,k] = x[index[i,j,k],j,k], or likewise along another dimension.
// Any element type; memory contiguous in logical order.
//
// Operands: x, index, parameters, y. y has the shape of index.

#include "abi/ops/movement.h"
#include "kernels/args/index.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& index = tensor(call, 1);
  const Tensor& y = tensor(call, 3);
  THIMBLE_RETURN_IF_ERROR(check_gather_operands(call));
  const uint32_t dim =
      static_cast<uint32_t>(params<abi::op_info::thimble_gather_elements>(tensor(call, 2)).dim);
  if (x.rank != y.rank || !same_sizes(index, y)) return Status::kBadShape;
  for (uint32_t d = 0; d < x.rank; ++d) {
    if (d != dim && index.sizes[d] > x.sizes[d]) return Status::kBadShape;
  }
  return check_gather_layout(call);
}

void run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& index = tensor(call, 1);
  const Tensor& y = tensor(call, 3);
  const int32_t dim = params<abi::op_info::thimble_gather_elements>(tensor(call, 2)).dim;
  const int32_t size = x.sizes[dim];
  const int32_t element = static_cast<int32_t>(element_bytes(x.dtype));
  int32_t steps[abi::kMaxRank];
  byte_strides(x, steps);
  const int32_t step = steps[dim];
  steps[dim] = 0;
  // Operand 0 counts elements of y and index; operand 1 is the offset in x without the index.
  StrideIterator iterator;
  int32_t index_steps[abi::kMaxRank];
  strides(index, index_steps);
  for (uint32_t d = 0; d < x.rank; ++d) iterator.push(y.sizes[d], index_steps[d], steps[d]);
  uint8_t* const to = static_cast<uint8_t*>(y.data);
  const uint8_t* const from = static_cast<const uint8_t*>(x.data);
  do {
    const StrideIterator::Axis& row = iterator.row();
    int32_t i = iterator.offset[0];
    int32_t offset = iterator.offset[1];
    for (int32_t k = 0; k < row.extent; ++k, i += row.step[0], offset += row.step[1]) {
      copy_bytes(to + i * element, from + offset + position(index, i, size) * step,
                 static_cast<uint32_t>(element));
    }
  } while (iterator.next());
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_gather_elements, check, run);

}  // namespace thimble::kernels
