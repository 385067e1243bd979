// SPDX-License-Identifier: Apache-2.0
#pragma once
// Flash, RAM and stack of linked code, from the tables linked/CORE.def.
//
// benchmarks/sizes/sections.py groups the sections of the runtime, the kernels and the C library by
// the set of roots (runtime, kernels, delegates) that need them. The code of a program is the sum
// of all groups that one of its roots needs, so that code that kernels share counts once. Summing
// the sizes of kernels that are linked alone was rejected: the sum exceeds the linked size of
// dscnn_kws on a Cortex-M4 by half.

#include <optional>

#include "engine/engine.h"
#include "engine/linked_code.h"

namespace thimble::engine::cortex_m {

/// Returns nothing if the core or a delegate has no table.
[[nodiscard]] std::optional<LinkedCode> linked_code(const LinkRequest& request, const Core& core);

}  // namespace thimble::engine::cortex_m
