// SPDX-License-Identifier: Apache-2.0
#pragma once
// pool_before_table(integer graph): moves a table (sigmoid, hardswish) that only a max pool reads
// after the pool, which has fewer elements. The table must not decrease: the maximum of f(x) is
// then f of the maximum, with the same bits.
// Test: tests/unit/passes_channels_test.cpp.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::passes {
[[nodiscard]] Result<ir::Graph> pool_before_table(const ir::Graph& graph);
}
