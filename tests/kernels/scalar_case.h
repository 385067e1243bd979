// SPDX-License-Identifier: Apache-2.0
#pragma once
// Convolutions and linear layers in the packed form of cores without DSP instructions
// (abi/matmul_scalar.h, ScalarChannel).

#include "tests/kernels/conv_case.h"

namespace thimble::kernels::test {

/// Returns a random axis that these packed forms support.
ConvAxis packed_axis(Random& random, int32_t kernel_max, int32_t out_max);
/// Returns conv2d_scalar, or depthwise_scalar if the case has groups; batch 1, shifts below 0.
Invocation scalar_conv(const ConvCase& c, Random& random);
/// Returns linear_scalar for a 1x1 convolution of an image [1, in_c, rows, 1].
Invocation scalar_linear(const ConvCase& c, Random& random);
Invocation scalar_sample(abi::PteOp op, Random& random);

}  // namespace thimble::kernels::test
