// SPDX-License-Identifier: Apache-2.0
#pragma once
// Convolutions and linear layers with weights of 4 bits (abi/int4.h), in the packed forms of
// Helium, the DSP extension and cores without either. The packing is written from abi/matmul_*.h.

#include "tests/kernels/conv_case.h"

namespace thimble::kernels::test {

/// Returns a random case of the operator, with weights in [-8, 7].
ConvCase int4_case(abi::PteOp op, Random& random);
/// Returns the call of a case. For a linear operator, the pixels of a 1x1 convolution are the rows.
Invocation int4_call(abi::PteOp op, const ConvCase& c, Random& random);
Invocation int4_sample(abi::PteOp op, Random& random);

}  // namespace thimble::kernels::test
