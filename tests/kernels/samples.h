// SPDX-License-Identifier: Apache-2.0
#pragma once
// Returns one random valid call of any operator of kernels.def, for tests of all kernels.

#include <cstring>
#include <vector>

#include "tests/kernels/invocation.h"

namespace thimble::kernels::test {

/// Returns the constant with a parameter struct and the words that follow it.
template <class Params>
Value params_constant(const Params& params, const std::vector<int32_t>& words = {}) {
  std::vector<uint8_t> bytes(sizeof params + words.size() * sizeof(int32_t));
  std::memcpy(bytes.data(), &params, sizeof params);
  if (!words.empty()) {
    std::memcpy(bytes.data() + sizeof params, words.data(), words.size() * sizeof(int32_t));
  }
  return constant_bytes(bytes);
}

Invocation sample(abi::PteOp op, Random& random);
/// Samples of operator families with a file of their own.
Invocation direct_sample(abi::PteOp op, Random& random);
Invocation image_sample(abi::PteOp op, Random& random);
Invocation rows_sample(abi::PteOp op, Random& random);
Invocation wide_sample(abi::PteOp op, Random& random);
Invocation float_sample(abi::PteOp op, Random& random);
/// Sample of an operator that only ExecuTorch's files call.
Invocation sample_executorch(abi::PteOp op, Random& random);

}  // namespace thimble::kernels::test
