#pragma once
// legalize: rewrites integer operators into forms that the dialect's kernels have. Before and
// after, the graph is integer IR without memory orders; what cannot be expressed is an
// `unsupported` error that lists every such operator with the user's source line. Values:
// identical.

#include "engine/engine.h"

namespace thimble::engine::cortex_m {
[[nodiscard]] Result<ir::Graph> legalize(const ir::Graph& graph, Dialect dialect);
}
