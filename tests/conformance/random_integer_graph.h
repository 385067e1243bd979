// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random int8 graphs by seed, with every integer operator and data movement that an engine may
// receive.

#include <cstdint>

#include "ir/graph.h"

namespace thimble::test {

struct IntegerGraphOptions {
  int ops = 8;
  bool stock_only = false;  // only operators that ExecuTorch's kernels can express
};

/// Returns a verified graph with one or two int8 or float inputs and at least one output.
[[nodiscard]] ir::Graph random_integer_graph(uint64_t seed, const IntegerGraphOptions& options);

}  // namespace thimble::test
