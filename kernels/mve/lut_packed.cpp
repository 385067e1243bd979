// SPDX-License-Identifier: Apache-2.0
// thimble::lut.packed on Helium: y = table[x], sixteen entries gathered at a time. The load of a
// gather takes a cycle for each element.

#include "abi/ops/arithmetic.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include "kernels/args/lut_packed.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

void run(void* const* operands) {
  const abi::LutTable& p = packed<abi::op_info::thimble_lut_packed>(operands[1]);
  const auto* x = static_cast<const uint8_t*>(operands[0]);
  auto* y = static_cast<int8_t*>(operands[2]);
  // clang-format off
  __asm__ volatile(
      "wlstp.8 lr, %[count], 2f\n"
      "1:\n"
      "vldrb.8 q0, [%[x]], #16\n"
      "vldrb.u8 q1, [%[table], q0]\n"
      "vstrb.8 q1, [%[y]], #16\n"
      "letp lr, 1b\n"
      "2:\n"
      : [x] "+r"(x), [y] "+r"(y)
      : [count] "r"(p.count), [table] "r"(p.table)
      : "q0", "q1", "lr", "memory");
  // clang-format on
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(mve, thimble_lut_packed, check_lut_packed, run);

}  // namespace thimble::kernels
#endif
