#pragma once
// Convolutions and linear layers in the packing of cores without DSP instructions
// (abi/native_params.h, ScalarChannel).

#include "tests/kernels/conv_case.h"

namespace thimble::kernels::test {

/// Axes of one image that these packings take, chosen at random.
ConvAxis packed_axis(Random& random, int32_t kernel_max, int32_t out_max);
/// The case as conv2d_scalar, or if it has groups as depthwise_scalar; batch 1, shifts below 0.
Invocation scalar_conv(const ConvCase& c, Random& random);
/// Of a 1x1 convolution of an image [1, in_c, rows, 1]: the same numbers as linear_scalar.
Invocation scalar_linear(const ConvCase& c, Random& random);
Invocation scalar_sample(abi::PteOp op, Random& random);

}  // namespace thimble::kernels::test
