// SPDX-License-Identifier: Apache-2.0
#pragma once
// Clamps int8 results to bounds tighter than int8, after they were stored. Most layers have none.

#include <cstdint>

namespace thimble::kernels::dsp {

/// Clamps `count` int8 values to [min, max], four at a time.
void clamp_codes(int8_t* codes, uint32_t count, int32_t min, int32_t max);

}  // namespace thimble::kernels::dsp
