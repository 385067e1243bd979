// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs a model as C: written by emit/c, compiled by the machine's C compiler to a shared library,
// which calls the kernels of this program.

#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "engine/engine.h"
#include "ir/tensor.h"

namespace thimble::fuzz {

/// Returns the outputs of each call. An `unsupported` error of the C writer gives an error.
[[nodiscard]] Result<std::vector<std::vector<ir::Tensor>>> run_c(
    const Bytes& pte, const engine::Lowered& lowered, const engine::Core& core,
    const std::vector<std::vector<ir::Tensor>>& calls);

}  // namespace thimble::fuzz
