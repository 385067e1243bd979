// SPDX-License-Identifier: Apache-2.0
#pragma once
// Depthwise products for Thumb-2 cores without DSP instructions (kernels/args/conv_scalar.h).

#include "kernels/args/conv_scalar.h"

namespace thimble::kernels {

extern "C" ScalarTapProducts thimble_v7m_taps_any, thimble_v7m_taps_nine, thimble_v7m_taps_pair;

inline constexpr ScalarTapFunctions kV7mTaps = {thimble_v7m_taps_any, thimble_v7m_taps_nine,
                                                thimble_v7m_taps_pair, nullptr};

}  // namespace thimble::kernels
