// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random graphs by seed of operators with 16-bit activations, and of conversions between 8 and 16
// bits.

#include <cstdint>

#include "ir/graph.h"

namespace thimble::test {

/// Returns a verified graph with one int8, int16 or float input and at least one output.
[[nodiscard]] ir::Graph random_wide_graph(uint64_t seed, int ops);

}  // namespace thimble::test
