// SPDX-License-Identifier: Apache-2.0
#pragma once
// Calls of operators packed for the DSP extension. The packing is written from abi/matmul_dsp.h.

#include "abi/params/window.h"
#include "tests/kernels/conv_case.h"

namespace thimble::kernels::test {

/// Changes a random case to quantization and weights that the packed forms support.
void restrict_to_dsp_limits(ConvCase& c);
abi::WindowGeometry window_geometry_of(const ConvCase& c);

/// Requires groups == 1.
Invocation dsp_conv(const ConvCase& c, Random& random);
/// Requires groups == in_c == out_c, a multiple of 4.
Invocation dsp_depthwise(const ConvCase& c, Random& random);
/// A 1x1 convolution of one row of pixels as a linear call; in_c must be a multiple of 4.
Invocation dsp_linear(const ConvCase& c, Random& random);

Invocation dsp_sample(abi::PteOp op, Random& random);

}  // namespace thimble::kernels::test
