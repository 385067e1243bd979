// SPDX-License-Identifier: Apache-2.0
#pragma once
// merge_pad(graph): moves zeros that `pad` adds around height and width into the padding of the
// convolutions that read them. Every reader of the pad must be a conv2d: a pool counts the zeros of
// a pad, but not its own padding. Values do not change.
// Tests: tests/unit/passes_simplify_test.cpp.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::passes {
[[nodiscard]] Result<ir::Graph> merge_pad(const ir::Graph& graph);
}
