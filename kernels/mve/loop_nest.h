// SPDX-License-Identifier: Apache-2.0
#pragma once
// Vectorized loops over abi::Nest. The axes may be executed in any order, so the longest axis
// becomes the row.

#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include <arm_mve.h>

#include "kernels/args/loop_nest.h"

namespace thimble::kernels::mve {

inline constexpr uint32_t kRow = abi::LoopNest::kAxes - 1;

inline abi::LoopNest with_longest_row(const abi::LoopNest& nest) {
  abi::LoopNest result = nest;
  uint32_t longest = kRow;
  for (uint32_t a = 0; a < kRow; ++a) {
    if (nest.extent[a] > nest.extent[longest]) longest = a;
  }
  result.extent[longest] = nest.extent[kRow];
  result.extent[kRow] = nest.extent[longest];
  for (uint32_t i = 0; i < 2; ++i) {
    result.step[i][longest] = nest.step[i][kRow];
    result.step[i][kRow] = nest.step[i][longest];
  }
  return result;
}

/// Returns 0, step, 2 * step, 3 * step.
inline uint32x4_t steps_of(uint32_t step) {
  return vmulq_n_u32(vidupq_n_u32(0, 1), step);
}

}  // namespace thimble::kernels::mve

#endif
