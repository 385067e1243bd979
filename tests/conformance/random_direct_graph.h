// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random graphs of one operator that other generators do not have: integers without scale
// (positions, masks), and frames of cameras.

#include <cstdint>

#include "ir/graph.h"

namespace thimble::test {

/// Returns a verified graph. Consecutive seeds give each operator in turn.
[[nodiscard]] ir::Graph random_direct_graph(uint64_t seed);

}  // namespace thimble::test
