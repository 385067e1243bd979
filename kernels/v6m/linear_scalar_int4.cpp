// SPDX-License-Identifier: Apache-2.0
#include "abi/ops/linear.h"
#include "kernels/isa.h"
#if THIMBLE_HAS_V6M
// linear_scalar_int4: pointers refer to the ends of the rows and share one index that counts up to
// zero; sums are kept in the high registers (scalar_dot.cpp).

#include "kernels/args/int4.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/int4_scalar.h"

// clang-format off
#define THIMBLE_PAIR(row, low, high) \
  "ldrsb r5, [" row ", r3]\n" \
  "lsls r6, r5, #28\n" \
  "asrs r6, r6, #28\n" \
  "muls r6, r4, r6\n" \
  "add " low ", r6\n" \
  "asrs r5, r5, #4\n" \
  "muls r5, r4, r5\n" \
  "add " high ", r5\n"
#define THIMBLE_STEP \
  "ldrsb r4, [r0, r3]\n" \
  THIMBLE_PAIR("r1", "r8", "r9") \
  THIMBLE_PAIR("r2", "r10", "r11") \
  "adds r3, r3, #1\n"
// clang-format on

namespace thimble::kernels {
namespace {

/// r0: end of x, r1 and r2: ends of two rows of pairs, r3: minus the number of bytes, not 0; the
/// address of the sums is on the stack.
__attribute__((naked)) void multiply_ends(const int8_t* /*x*/, const uint8_t* /*first*/,
                                          const uint8_t* /*second*/, int32_t /*count*/,
                                          uint32_t* /*sums*/) {
  __asm__(
      ".syntax unified\n"
      "push {r4-r7, lr}\n"
      "mov r4, r8\n"
      "mov r5, r9\n"
      "mov r6, r10\n"
      "mov r7, r11\n"
      "push {r4-r7}\n"
      "movs r4, #0\n"
      "mov r8, r4\n"
      "mov r9, r4\n"
      "mov r10, r4\n"
      "mov r11, r4\n"
      "lsls r4, r3, #31\n"  // an odd count begins with one step
      "beq 1f\n" THIMBLE_STEP
      "beq 2f\n"
      "1:\n" THIMBLE_STEP THIMBLE_STEP
      "bne 1b\n"
      "2:\n"
      "ldr r4, [sp, #36]\n"
      "mov r0, r8\n"
      "mov r1, r9\n"
      "mov r2, r10\n"
      "mov r3, r11\n"
      "stm r4!, {r0-r3}\n"
      "pop {r4-r7}\n"
      "mov r8, r4\n"
      "mov r9, r5\n"
      "mov r10, r6\n"
      "mov r11, r7\n"
      "pop {r4-r7, pc}\n");
}

void multiply_rows(const int8_t* x, const uint8_t* pairs, uint32_t step, uint32_t depth,
                   uint32_t (&sums)[4]) {
  if (depth == 0) {
    for (uint32_t& sum : sums) sum = 0;
    return;
  }
  multiply_ends(x + depth, pairs + depth, pairs + step + depth, -static_cast<int32_t>(depth), sums);
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(v6m, thimble_linear_scalar_int4, check_linear_scalar_int4,
                           run_linear_int4<ScalarInt4<multiply_rows>>);

}  // namespace thimble::kernels
#endif
