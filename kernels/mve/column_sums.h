// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sums of int8 values at a fixed stride, for eight neighbouring channels: in 16 bits as long as the
// sums fit, then in 32 bits for even and odd channels separately.

#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include <arm_mve.h>

#include <cstdint>

namespace thimble::kernels::mve {

struct ColumnSums {
  int16x8_t near = vdupq_n_s16(0);
  uint32_t room = 255;  // number of values that can still be added to `near`
  int32x4_t even = vdupq_n_s32(0), odd = vdupq_n_s32(0);

  void flush() {
    even = vaddq_s32(even, vmovlbq_s16(near));
    odd = vaddq_s32(odd, vmovltq_s16(near));
    near = vdupq_n_s16(0);
    room = 255;
  }

  /// Adds `count` values, `step` bytes apart.
  void add(const int8_t* x, uint32_t count, uint32_t step, mve_pred16_t lanes) {
    while (count != 0) {
      const uint32_t run = count < room ? count : room;
      for (uint32_t i = 0; i < run; ++i) {
        near = vaddq_s16(near, vldrbq_z_s16(x, lanes));
        x += step;
      }
      count -= run;
      room -= run;
      if (room == 0) flush();
    }
  }
};

}  // namespace thimble::kernels::mve

#endif
