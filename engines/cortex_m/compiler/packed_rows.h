// SPDX-License-Identifier: Apache-2.0
#pragma once
// read_packed_rows: a table whose rows are also the weights of a linear layer (tied embeddings) is
// read in the order in which the Helium kernels store those weights (abi/matmul_mve.h), so that the
// file stores the bytes once. On cores without Helium and without the DSP extension, the packed
// weights contain the table as it is, and nothing has to be rewritten.

#include "engine/engine.h"
#include "ir/graph.h"

namespace thimble::engine::cortex_m {
[[nodiscard]] Result<ir::Graph> read_packed_rows(const ir::Graph& graph);
}
