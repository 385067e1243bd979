// SPDX-License-Identifier: Apache-2.0
#pragma once
// Calls of conv2d_mve and linear_mve, built from plain integers.

#include "tests/kernels/conv_case.h"

namespace thimble::kernels::test {

/// Packs as in abi/matmul_mve.h. Weights are [channels][depth]; the bias has no zero-point share.
std::vector<uint8_t> pack_matmul(const std::vector<int8_t>& weights,
                                 const std::vector<int32_t>& bias, const std::vector<int32_t>& mult,
                                 const std::vector<int32_t>& shift, int32_t x_offset);

/// Returns the call of a case with batch 1, one group and a bias.
Invocation mve_conv(const ConvCase& c, Random& random);
/// Returns a linear call whose rows are the pixels of a 1x1 convolution with stride 1.
Invocation mve_linear(const ConvCase& c, Random& random);

/// Returns one random valid call.
Invocation mve_sample(abi::PteOp op, Random& random);

}  // namespace thimble::kernels::test
