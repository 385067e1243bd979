#pragma once
// merge_pad(graph): zeros that `pad` puts around height and width become padding of the
// convolutions that read them. Only where every reader of the pad is a conv2d (a pool must not
// count the zeros that padding would hide from it). Values do not change.
// Tests: tests/unit/passes_simplify.cpp.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::passes {
[[nodiscard]] Result<ir::Graph> merge_pad(const ir::Graph& graph);
}
