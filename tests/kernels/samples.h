#pragma once
// One random valid call of any operator of kernels.def, for tests that hold for all of them.

#include "tests/kernels/invocation.h"

namespace thimble::kernels::test {

Invocation sample(abi::PteOp op, Random& random);
/// Of families with a file of their own.
Invocation image_sample(abi::PteOp op, Random& random);
Invocation rows_sample(abi::PteOp op, Random& random);
Invocation wide_sample(abi::PteOp op, Random& random);
/// Of an operator that only files of ExecuTorch call.
Invocation sample_foreign(abi::PteOp op, Random& random);

}  // namespace thimble::kernels::test
