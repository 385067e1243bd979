// SPDX-License-Identifier: Apache-2.0
#pragma once
// lower_float: rewrites float32 operators without a kernel of their own into operators that have
// one (select_float.h). Integer operators do not change. Operators that cannot be rewritten stay;
// legalize() refuses them. Every step rounds to float32, so the last bits of a result may differ
// (docs/numerics.md, "Float operators").
//
//   prelu(x, w) = max(x, 0) + w * min(x, 0)
//
// Test: tests/conformance/float_test.cpp.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::engine::cortex_m {
[[nodiscard]] Result<ir::Graph> lower_float(const ir::Graph& graph);
}
