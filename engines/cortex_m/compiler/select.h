// SPDX-License-Identifier: Apache-2.0
#pragma once
// select_calls: adds one KernelCall for each operator that is not only a view. Its constants have
// the dialect's layout (abi/params, or ExecuTorch's), its scratch the size for the
// instruction set. If several kernel variants exist, the one for the optimization goal is chosen
// (kernel_variants.h); the stock dialect has one variant per operator.

#include "engine/engine.h"

namespace thimble::engine::cortex_m {
[[nodiscard]] Status select_calls(Lowered* lowered, const Core& target, const Options& options);
}
