// SPDX-License-Identifier: Apache-2.0
#pragma once
// multiply_by_reciprocal(graph): rewrites div(x, c) with a constant c to mul(x, 1 / c), which has
// an integer form wherever mul has one. A one-element constant is skipped: its div becomes part of
// a lookup table. A constant with an element whose reciprocal is not finite is also skipped. Values
// are equal up to float rounding. Tests: tests/unit/passes_simplify_test.cpp.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::passes {
[[nodiscard]] Result<ir::Graph> multiply_by_reciprocal(const ir::Graph& graph);
}
