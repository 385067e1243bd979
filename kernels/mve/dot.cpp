// SPDX-License-Identifier: Apache-2.0
// The loops of kernels/portable/dot.h on Helium. Sums of 16 products and sums of 16 weights are
// computed at a time; the sum of weights is multiplied once by the offset. Two rows share the loads
// of x, because there are no accumulators for more rows.

#include "kernels/isa.h"

#if THIMBLE_HAS_MVE

#include "kernels/portable/dot.h"

namespace thimble::kernels {
namespace {

void accumulate_pair(const int8_t* x, const int8_t* w, const int8_t* w1, int32_t n,
                     int32_t x_offset, uint32_t* acc, uint32_t* acc1) {
  uint32_t sum = *acc, sum1 = *acc1, weights = 0, weights1 = 0;
  asm volatile(
      "dlstp.8 lr, %[n]\n"
      "1:\n"
      "vldrb.u8 q0, [%[x]], #16\n"
      "vldrb.u8 q1, [%[w]], #16\n"
      "vmladava.s8 %[sum], q0, q1\n"
      "vaddva.s8 %[weights], q1\n"
      "vldrb.u8 q2, [%[w1]], #16\n"
      "vmladava.s8 %[sum1], q0, q2\n"
      "vaddva.s8 %[weights1], q2\n"
      "letp lr, 1b\n"
      : [x] "+r"(x), [w] "+r"(w), [w1] "+r"(w1), [sum] "+Te"(sum), [sum1] "+Te"(sum1),
        [weights] "+Te"(weights), [weights1] "+Te"(weights1)
      : [n] "r"(n)
      : "q0", "q1", "q2", "lr", "memory");
  *acc = sum + weights * static_cast<uint32_t>(x_offset);
  *acc1 = sum1 + weights1 * static_cast<uint32_t>(x_offset);
}

}  // namespace

void accumulate(const int8_t* x, const int8_t* w, int32_t w_step, int32_t n, int32_t x_offset,
                uint32_t (&acc)[4]) {
  if (n == 0) return;
  accumulate_pair(x, w, w + w_step, n, x_offset, &acc[0], &acc[1]);
  w += 2 * w_step;
  accumulate_pair(x, w, w + w_step, n, x_offset, &acc[2], &acc[3]);
}

void accumulate(const int8_t* x, const int8_t* w, int32_t, int32_t n, int32_t x_offset,
                uint32_t (&acc)[1]) {
  uint32_t other = 0;
  if (n != 0) accumulate_pair(x, w, w, n, x_offset, &acc[0], &other);
}

}  // namespace thimble::kernels

#endif
