#pragma once
// multiply_by_reciprocal(graph): div(x, c) with a constant c becomes mul(x, 1 / c), which has an
// integer form wherever products have one. A constant of one number is left to the table that it
// will be part of, and so is one with an element whose reciprocal is not finite. Values change by
// float rounding at most. Tests: tests/unit/passes_simplify_test.cpp.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::passes {
[[nodiscard]] Result<ir::Graph> multiply_by_reciprocal(const ir::Graph& graph);
}
