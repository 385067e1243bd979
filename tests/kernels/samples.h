#pragma once
// Returns one random valid call of any operator of kernels.def, for tests of all kernels.

#include "tests/kernels/invocation.h"

namespace thimble::kernels::test {

Invocation sample(abi::PteOp op, Random& random);
/// Samples of operator families with a file of their own.
Invocation image_sample(abi::PteOp op, Random& random);
Invocation rows_sample(abi::PteOp op, Random& random);
Invocation wide_sample(abi::PteOp op, Random& random);
/// Sample of an operator that only ExecuTorch's files call.
Invocation sample_executorch(abi::PteOp op, Random& random);

}  // namespace thimble::kernels::test
