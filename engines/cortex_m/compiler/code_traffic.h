// SPDX-License-Identifier: Apache-2.0
#pragma once
// How the cores read the instructions of kernels: the rows of code_traffic.def, which
// benchmarks/cycles/fetches.py writes.

#include "engine/code_traffic.h"
#include "engine/engine.h"

namespace thimble::engine::cortex_m {

/// Returns the row of the core, or of the core with its kernels; null without one.
[[nodiscard]] const CodeTraffic* code_traffic(const Core& core);

}  // namespace thimble::engine::cortex_m
