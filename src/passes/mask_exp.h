// SPDX-License-Identifier: Apache-2.0
#pragma once
// mask_exp(graph): rewrites exp(where(m, -inf, x)) to where(m, 0, exp(where(m, 0, x))), for either
// order of the two values. Linear attention masks its decays in this form. -inf has no integer
// form, and exp(x) alone may be infinite in places that are masked. Values do not change. Requires
// that the masked value has no other reader. Tests: tests/unit/passes_simplify_test.cpp.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::passes {
[[nodiscard]] Result<ir::Graph> mask_exp(const ir::Graph& graph);
}
