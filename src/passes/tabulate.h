// SPDX-License-Identifier: Apache-2.0
#pragma once
// tabulate(graph): computes float functions of one position at compile time.
//
// A rotary embedding computes cos and sin of position * frequency. At run time the position is an
// integer input, and the import writes its conversion to float as a `gather` of one element of
// [0, 1, 2, ...]. Eight bits cannot represent such angles. The pass evaluates all operators that
// depend only on gathers of such tables at the same position, for every position. It replaces each
// result that other operators read by the `gather` of a row of its table.
//
// The values do not change, for any index: the clamped index selects the same row. A table has at
// most 2^16 elements; a larger one remains as operators.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::passes {

[[nodiscard]] Result<ir::Graph> tabulate(const ir::Graph& graph);

}  // namespace thimble::passes
