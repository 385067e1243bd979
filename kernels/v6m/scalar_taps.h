// SPDX-License-Identifier: Apache-2.0
#pragma once
// Depthwise products for cores with 16-bit Thumb (kernels/args/conv_scalar.h).

#include "kernels/args/conv_scalar.h"

namespace thimble::kernels {

extern "C" ScalarTapProducts thimble_v6m_taps_any, thimble_v6m_taps_nine, thimble_v6m_taps_quad;

inline constexpr ScalarTapFunctions kV6mTaps = {thimble_v6m_taps_any, thimble_v6m_taps_nine,
                                                nullptr, thimble_v6m_taps_quad};

}  // namespace thimble::kernels
