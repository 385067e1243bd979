#pragma once
// Dot products for cores with 16-bit Thumb (kernels/args/scalar.h).

#include "kernels/args/scalar.h"

namespace thimble::kernels {

extern "C" ScalarDotProducts thimble_v6m_dot_block, thimble_v6m_dot_single;
extern "C" ScalarInterleave thimble_v6m_interleave;

inline constexpr ScalarCore kV6mScalar = {2, thimble_v6m_dot_block, thimble_v6m_dot_single,
                                          thimble_v6m_interleave};

}  // namespace thimble::kernels
