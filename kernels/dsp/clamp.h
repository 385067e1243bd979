#pragma once
// Bounds tighter than those of int8, after the fact: most layers have none.

#include <cstdint>

namespace thimble::kernels::dsp {

/// Limits `count` codes to [min, max], four at a time.
void clamp_codes(int8_t* codes, uint32_t count, int32_t min, int32_t max);

}  // namespace thimble::kernels::dsp
