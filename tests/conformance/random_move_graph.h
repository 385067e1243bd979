#pragma once
// Random graphs by seed of one operator that works on elements of many types: movement, gathering,
// choice, extremes. (random_integer_graph.h has them on int8, random_wide_graph.h on int16.)

#include <cstdint>

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::test {

/// A graph of inputs and one operator; an error where the operator does not exist for `dtype`.
[[nodiscard]] Result<ir::Graph> random_move_graph(uint64_t seed, ir::DType dtype);

}  // namespace thimble::test
