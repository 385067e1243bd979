// SPDX-License-Identifier: Apache-2.0
#pragma once
// legalize: rewrites integer operators into those that the dialect's kernels support. The graph is
// integer IR without memory orders before and after. Values are unchanged. Unsupported operators
// give one `unsupported` error that lists all of them with their lines in the model's source.

#include "engine/engine.h"

namespace thimble::engine::cortex_m {
[[nodiscard]] Result<ir::Graph> legalize(const ir::Graph& graph, Dialect dialect);
}
