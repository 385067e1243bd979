#pragma once
// Calls of depthwise_mve and add_flat from plain numbers.

#include "abi/add_flat.h"
#include "tests/kernels/conv_case.h"

namespace thimble::kernels::test {

/// Of a case of one image with as many groups as channels, with a bias.
Invocation mve_depthwise(const ConvCase& c, Random& random);
Invocation add_flat_call(const abi::AddFlat& params, Random& random);

/// Weights that the packing takes: no two of -128 in a row.
void randomize_depthwise(ConvCase& c, Random& random);
abi::AddFlat random_add_flat(Random& random, int32_t count);

/// One random valid call.
Invocation mve_depthwise_sample(Random& random);
Invocation add_flat_sample(Random& random);

}  // namespace thimble::kernels::test
