#pragma once
// Calls of conv2d_mve and linear_mve from plain numbers.

#include "tests/kernels/conv_case.h"

namespace thimble::kernels::test {

/// abi/matmul_mve.h, from weights [channels][depth] and biases without the zero point of x.
std::vector<uint8_t> pack_matmul(const std::vector<int8_t>& weights,
                                 const std::vector<int32_t>& bias, const std::vector<int32_t>& mult,
                                 const std::vector<int32_t>& shift, int32_t x_offset);

/// Of a case of one image and one group, with a bias.
Invocation mve_conv(const ConvCase& c, Random& random);
/// The rows are the pixels of a 1x1 convolution with stride 1.
Invocation mve_linear(const ConvCase& c, Random& random);

/// One random valid call.
Invocation mve_sample(abi::PteOp op, Random& random);

}  // namespace thimble::kernels::test
