// SPDX-License-Identifier: Apache-2.0
#pragma once
// regularize_groups: convolutions with groups become operators for which every instruction set has
// a fast kernel. The results are the same numbers.
//
//   groups of several channels        a slice, a convolution per group, and a concat
//   depthwise with a multiplier m     each input channel is repeated m times
//   depthwise, channels % 4 != 0      channels of zeros are added to the input and removed from the
//                                     result, for kernels of Helium and of the DSP extension
//
// The copies need memory and a few cycles per byte; the general kernels need 5 to 27 cycles per
// multiplication. Tested by tests/unit/cortex_m_conv_groups_test.cpp.

#include "engine/engine.h"
#include "ir/graph.h"

namespace thimble::engine::cortex_m {
[[nodiscard]] Result<ir::Graph> regularize_groups(const ir::Graph& graph, abi::Isa isa);
}
