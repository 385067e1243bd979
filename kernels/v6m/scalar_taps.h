#pragma once
// Depthwise products for cores with 16-bit Thumb (kernels/args/scalar.h).

#include "kernels/args/scalar.h"

namespace thimble::kernels {

extern "C" ScalarTapProducts thimble_v6m_taps_any, thimble_v6m_taps_nine;

inline constexpr ScalarTapCore kV6mTaps = {thimble_v6m_taps_any, thimble_v6m_taps_nine, nullptr};

}  // namespace thimble::kernels
