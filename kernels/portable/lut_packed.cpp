// SPDX-License-Identifier: Apache-2.0
// thimble::lut.packed: y = table[x]; formula: docs/numerics.md, "Tables"; constant:
// abi/packed_ops.h.
//
// Operands: x, LutTable constant, y. In place: y may be x.

#include "kernels/args/lut_packed.h"
#include "abi/ops/arithmetic.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

void run(void* const* operands) {
  const abi::LutTable& p = packed<abi::op_info::thimble_lut_packed>(operands[1]);
  const auto* x = static_cast<const uint8_t*>(operands[0]);
  auto* y = static_cast<int8_t*>(operands[2]);
  uint32_t left = p.count;
  for (; left >= 4; left -= 4) {
    y[0] = p.table[x[0]];
    y[1] = p.table[x[1]];
    y[2] = p.table[x[2]];
    y[3] = p.table[x[3]];
    x += 4;
    y += 4;
  }
  for (; left != 0; --left) *y++ = p.table[*x++];
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_lut_packed, check_lut_packed, run);

}  // namespace thimble::kernels
