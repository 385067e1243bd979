// SPDX-License-Identifier: Apache-2.0
// thimble::concat2, concat3, concat4: concatenation along a dimension in which each index is a
// contiguous run of bytes; constant: abi/packed_ops.h.
//
// Operands: the tensors, Concat constant, y.

#include "abi/ops/movement.h"
#include "kernels/args/loop_nest.h"
#include "kernels/args/move.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

template <uint32_t kCount>
Status check(const Call& call) {
  const Tensor& y = tensor(call, kCount + 1);
  THIMBLE_RETURN_IF_ERROR(check_blob(tensor(call, kCount), sizeof(abi::Concat)));
  const auto& p = packed<abi::op_info::thimble_concat2>(tensor(call, kCount));
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < kCount; ++i) {
    const Tensor& x = tensor(call, i);
    THIMBLE_RETURN_IF_ERROR(check_pair(x, y));
    if (uint64_t{p.outer} * p.bytes[i] != x.bytes) return Status::kBadShape;
    bytes += x.bytes;
  }
  return bytes == y.bytes ? Status::kOk : Status::kBadShape;
}

template <uint32_t kCount>
void run(void* const* operands) {
  const abi::Concat& p = packed<abi::op_info::thimble_concat2>(operands[kCount]);
  auto* y = static_cast<uint8_t*>(operands[kCount + 1]);
  for (uint32_t o = 0; o < p.outer; ++o) {
    for (uint32_t i = 0; i < kCount; ++i) {
      copy_bytes(y, static_cast<const uint8_t*>(operands[i]) + o * p.bytes[i], p.bytes[i]);
      y += p.bytes[i];
    }
  }
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_concat2, check<2>, run<2>);
THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_concat3, check<3>, run<3>);
THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_concat4, check<4>, run<4>);

}  // namespace thimble::kernels
