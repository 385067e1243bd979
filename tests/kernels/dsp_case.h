#pragma once
// Calls of operators packed for the DSP extension, packed anew from what abi/matmul_dsp.h says.

#include "abi/native_params.h"
#include "tests/kernels/conv_case.h"

namespace thimble::kernels::test {

/// The quantization and weights that the packings take, of random ones.
void make_fit_dsp(ConvCase& c);
abi::WindowGeometry window_geometry_of(const ConvCase& c);

/// groups 1.
Invocation dsp_conv(const ConvCase& c, Random& random);
/// As many channels out as in, each its own group, in fours.
Invocation dsp_depthwise(const ConvCase& c, Random& random);
/// A 1x1 convolution of one row of pixels as a linear of as many rows, in_c in fours.
Invocation dsp_linear(const ConvCase& c, Random& random);

Invocation dsp_sample(abi::PteOp op, Random& random);

}  // namespace thimble::kernels::test
