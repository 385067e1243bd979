// SPDX-License-Identifier: Apache-2.0
// The loops of kernels/portable/dot_int4.h on Helium, for 16 values of x at a time. The sums of
// weights are multiplied once by the offset. 32 products take 7 instructions, as with weights of 8
// bits (dot.cpp).

#include "kernels/isa.h"

#if THIMBLE_HAS_MVE

#include "kernels/portable/dot_int4.h"

namespace thimble::kernels {

Int4Operand int4_operand(const int8_t* x, int32_t n, int32_t offset) {
  auto sum = static_cast<uint32_t>(n * offset);
  const int8_t* at = x;
  if (n != 0) {
    asm volatile(
        "dlstp.8 lr, %[n]\n"
        "1:\n"
        "vldrb.u8 q0, [%[at]], #16\n"
        "vaddva.s8 %[sum], q0\n"
        "letp lr, 1b\n"
        : [at] "+r"(at), [sum] "+Te"(sum)
        : [n] "r"(n)
        : "q0", "lr", "memory");
  }
  return {x, n, offset, 8 * sum};
}

void multiply_int4(const Int4Operand& operand, const uint8_t* pair, uint32_t (&sums)[2]) {
  uint32_t low = 0, both = 0, low_weights = 0, both_weights = 0;
  const int8_t* x = operand.x;
  if (operand.n != 0) {
    asm volatile(
        "vmov.i8 q2, #15\n"
        "dlstp.8 lr, %[n]\n"
        "1:\n"
        "vldrb.u8 q0, [%[x]], #16\n"
        "vldrb.u8 q1, [%[pair]], #16\n"
        "vmladava.s8 %[both], q0, q1\n"
        "vand q3, q1, q2\n"
        "vaddva.s8 %[both_weights], q1\n"
        "vmladava.s8 %[low], q0, q3\n"
        "vaddva.s8 %[low_weights], q3\n"
        "letp lr, 1b\n"
        : [x] "+r"(x), [pair] "+r"(pair), [low] "+Te"(low), [both] "+Te"(both),
          [low_weights] "+Te"(low_weights), [both_weights] "+Te"(both_weights)
        : [n] "r"(operand.n)
        : "q0", "q1", "q2", "q3", "lr", "memory");
  }
  const auto offset = static_cast<uint32_t>(operand.offset);
  low += low_weights * offset;
  both += both_weights * offset;
  sums[0] = low - operand.eight_sums;
  sums[1] = int4_high_sum(both, low);
}

void multiply_int4(const Int4Operand& operand, const uint8_t* pairs, uint32_t (&sums)[4]) {
  uint32_t first[2], second[2];
  multiply_int4(operand, pairs, first);
  multiply_int4(operand, pairs + operand.n, second);
  sums[0] = first[0];
  sums[1] = first[1];
  sums[2] = second[0];
  sums[3] = second[1];
}

}  // namespace thimble::kernels

#endif
