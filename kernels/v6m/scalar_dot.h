// SPDX-License-Identifier: Apache-2.0
#pragma once
// Dot products for cores with 16-bit Thumb (kernels/args/conv_scalar.h).

#include "kernels/args/conv_scalar.h"

namespace thimble::kernels {

extern "C" ScalarDotProducts thimble_v6m_dot_block, thimble_v6m_dot_single, thimble_v6m_dot_quad;
extern "C" ScalarInterleave thimble_v6m_interleave;

inline constexpr ScalarDotFunctions kV6mScalar = {2, thimble_v6m_dot_block, thimble_v6m_dot_single,
                                                  thimble_v6m_interleave, thimble_v6m_dot_quad};

/// For linear layers, which compute single rows.
inline constexpr ScalarDotFunctions kV6mRows = {2, thimble_v6m_dot_single, thimble_v6m_dot_single,
                                                thimble_v6m_interleave, nullptr};

}  // namespace thimble::kernels
