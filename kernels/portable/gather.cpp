// SPDX-License-Identifier: Apache-2.0
// thimble::gather: x[..., index, ...] along one dimension, as in an embedding. Any element type;
// memory contiguous in logical order, so that each index copies one run of bytes.
//
// Operands: x, index, parameters, y. In y the dimensions of index replace `dim`.

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
      static_cast<uint32_t>(params<abi::op_info::thimble_gather>(tensor(call, 2)).dim);
  if (y.rank != x.rank + index.rank - 1) return Status::kBadShape;
  for (uint32_t d = 0; d < y.rank; ++d) {
    const int32_t expected = d < dim                ? x.sizes[d]
                             : d < dim + index.rank ? index.sizes[d - dim]
                                                    : x.sizes[d + 1 - index.rank];
    if (y.sizes[d] != expected) return Status::kBadShape;
  }
  return check_gather_layout(call);
}

void run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& index = tensor(call, 1);
  const Tensor& y = tensor(call, 3);
  const int32_t dim = params<abi::op_info::thimble_gather>(tensor(call, 2)).dim;
  const int32_t size = x.sizes[dim];
  uint32_t run_bytes = element_bytes(x.dtype);
  for (uint32_t d = static_cast<uint32_t>(dim) + 1; d < x.rank; ++d) {
    run_bytes *= static_cast<uint32_t>(x.sizes[d]);
  }
  const uint32_t block = run_bytes * static_cast<uint32_t>(size);
  const int32_t count = elements(index);
  uint8_t* to = static_cast<uint8_t*>(y.data);
  const uint8_t* const end = to + y.bytes;
  for (const uint8_t* from = static_cast<const uint8_t*>(x.data); to != end; from += block) {
    for (int32_t i = 0; i < count; ++i, to += run_bytes) {
      copy_bytes(to, from + static_cast<uint32_t>(position(index, i, size)) * run_bytes, run_bytes);
    }
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_gather, check, run);

}  // namespace thimble::kernels
