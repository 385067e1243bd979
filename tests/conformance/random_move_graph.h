// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random graphs by seed, each of one operator that supports many element types: data movement,
// gather, choice, minimum and maximum. (random_integer_graph.h covers int8, random_wide_graph.h
// int16.)

#include <cstdint>

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::test {

/// Returns a graph of inputs and one operator; an error if the operator does not support `dtype`.
[[nodiscard]] Result<ir::Graph> random_move_graph(uint64_t seed, ir::DType dtype);

}  // namespace thimble::test
