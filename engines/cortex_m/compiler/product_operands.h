#pragma once
// transpose_products: a product of two activations has the depth innermost in both operands, as the
// Helium kernel of dot products requires. The second operand is transposed before it; without that,
// the kernel multiplies four columns at a time, in three to five times the cycles.

#include "engine/engine.h"
#include "ir/graph.h"

namespace thimble::engine::cortex_m {
[[nodiscard]] Result<ir::Graph> transpose_products(const ir::Graph& graph);
}
