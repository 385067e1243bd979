// SPDX-License-Identifier: Apache-2.0
// thimble::max_pool2d.packed on Helium: maxima of sixteen channels at a time.

#include "abi/ops/pool.h"
#include "abi/params/window.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE

#include <arm_mve.h>

#include "kernels/args/window_pool.h"
#include "kernels/define_kernel.h"
#include "kernels/mve/window_pool.h"

namespace thimble::kernels {

void mve::maximum_of_windows(void* const* operands) {
  for_each_window(operands, [](const abi::WindowGeometry& g, const Window& w, int8_t* y) {
    for (uint32_t c = 0; c < g.in_c; c += 16) {
      const mve_pred16_t lanes = vctp8q(g.in_c - c);
      int8x16_t largest = vdupq_n_s8(-128);
      const int8_t* row = w.x + c;
      for (uint32_t r = 0; r < w.rows; ++r) {
        const int8_t* at = row;
        for (uint32_t k = 0; k < w.columns; ++k) {
          largest = vmaxq_s8(largest, vldrbq_z_s8(at, lanes));
          at += w.column_step;
        }
        row += w.row_step;
      }
      vstrbq_p_s8(y + c, largest, lanes);
    }
  });
}

THIMBLE_DEFINE_BARE_KERNEL(mve, thimble_max_pool2d_packed, check_window_pool,
                           mve::maximum_of_windows);

}  // namespace thimble::kernels

#endif
