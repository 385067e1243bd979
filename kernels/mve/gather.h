// SPDX-License-Identifier: Apache-2.0
#pragma once
// Copies the rows of a window to contiguous memory.

#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include <cstdint>

namespace thimble::kernels::mve {

/// Copies `rows` pieces of `bytes` each (both at least 1), `from_step` bytes apart in `from` and
/// `to_step` bytes apart in `to`.
inline void gather(int8_t* to, const int8_t* from, uint32_t rows, uint32_t bytes,
                   uint32_t from_step, uint32_t to_step) {
  if (bytes <= 16) {
    __asm__ volatile(
        "vctp.8 %[bytes]\n"
        "1:\n"
        "vpstt\n"
        "vldrbt.8 q0, [%[from]]\n"
        "vstrbt.8 q0, [%[to]]\n"
        "add %[from], %[from_step]\n"
        "add %[to], %[to_step]\n"
        "subs %[rows], #1\n"
        "bne 1b\n"
        : [to] "+r"(to), [from] "+r"(from), [rows] "+r"(rows)
        : [bytes] "r"(bytes), [from_step] "r"(from_step), [to_step] "r"(to_step)
        : "q0", "cc", "memory");
    return;
  }
  do {
    const int8_t* x = from;
    int8_t* y = to;
    __asm__ volatile(
        "dlstp.8 lr, %[bytes]\n"
        "1:\n"
        "vldrb.8 q0, [%[x]], #16\n"
        "vstrb.8 q0, [%[y]], #16\n"
        "letp lr, 1b\n"
        : [x] "+r"(x), [y] "+r"(y)
        : [bytes] "r"(bytes)
        : "lr", "q0", "memory");
    from += from_step;
    to += to_step;
  } while (--rows != 0);
}

/// As gather(), for the windows of three pixels with rows of at most 16 bytes: the windows begin
/// `apart` bytes apart in `from` and `to_apart` bytes apart in `to`, where rows are contiguous.
inline void gather_three(int8_t* to, const int8_t* from, uint32_t rows, uint32_t bytes,
                         uint32_t to_apart, uint32_t apart, uint32_t from_step) {
  const int8_t* second = from + apart;
  const int8_t* third = second + apart;
  int8_t* to_second = to + to_apart;
  int8_t* to_third = to_second + to_apart;
  __asm__ volatile(
      "vctp.8 %[bytes]\n"
      "1:\n"
      "vpstttt\n"
      "vldrbt.8 q0, [%[from]]\n"
      "vldrbt.8 q1, [%[second]]\n"
      "vstrbt.8 q0, [%[to]]\n"
      "vldrbt.8 q2, [%[third]]\n"
      "add %[from], %[from_step]\n"
      "add %[second], %[from_step]\n"
      "vpstt\n"
      "vstrbt.8 q1, [%[to_second]]\n"
      "vstrbt.8 q2, [%[to_third]]\n"
      "add %[third], %[from_step]\n"
      "add %[to], %[bytes]\n"
      "add %[to_second], %[bytes]\n"
      "add %[to_third], %[bytes]\n"
      "subs %[rows], #1\n"
      "bne 1b\n"
      : [to] "+r"(to), [to_second] "+r"(to_second), [to_third] "+r"(to_third), [from] "+r"(from),
        [second] "+r"(second), [third] "+r"(third), [rows] "+r"(rows)
      : [bytes] "r"(bytes), [from_step] "r"(from_step)
      : "q0", "q1", "q2", "cc", "memory");
}

}  // namespace thimble::kernels::mve

#endif
