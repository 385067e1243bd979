// SPDX-License-Identifier: Apache-2.0
#pragma once
// Calls of depthwise_mve and add_flat, built from plain integers.

#include "abi/packed_ops.h"
#include "tests/kernels/conv_case.h"

namespace thimble::kernels::test {

/// Returns the call of a case with batch 1, groups equal to channels, and a bias.
Invocation mve_depthwise(const ConvCase& c, Random& random);
Invocation add_flat_call(const abi::AddFlat& params, Random& random);

/// Chooses weights that the packed form supports: no two consecutive weights of -128.
void randomize_depthwise(ConvCase& c, Random& random);
abi::AddFlat random_add_flat(Random& random, int32_t count);

/// Returns one random valid call.
Invocation mve_depthwise_sample(Random& random);
Invocation add_flat_sample(Random& random);

}  // namespace thimble::kernels::test
