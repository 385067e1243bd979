// SPDX-License-Identifier: Apache-2.0
#pragma once
// Dot products for Thumb-2 cores without DSP instructions (kernels/args/conv_scalar.h).

#include "kernels/args/conv_scalar.h"

namespace thimble::kernels {

extern "C" ScalarDotProducts thimble_v7m_dot_block, thimble_v7m_dot_single;

inline constexpr ScalarDotFunctions kV7mScalar = {3, thimble_v7m_dot_block, thimble_v7m_dot_single,
                                                  nullptr, nullptr};

}  // namespace thimble::kernels
