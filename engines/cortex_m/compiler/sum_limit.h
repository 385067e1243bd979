// SPDX-License-Identifier: Apache-2.0
#pragma once
// The number of products that the accumulator of a kernel can add.

#include <cstdint>

#include "abi/limits.h"
#include "ir/graph.h"

namespace thimble::engine::cortex_m {

/// Number of products per result element in a 32-bit accumulator, and its upper bound.
struct Sum {
  int64_t products = 0, most = abi::kMaxAccumulations;
};
[[nodiscard]] Sum sum_of(const ir::Graph& graph, const ir::Op& op);

}  // namespace thimble::engine::cortex_m
