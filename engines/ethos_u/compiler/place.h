// SPDX-License-Identifier: Apache-2.0
#pragma once
// Assigns addresses to the tensors of a schedule, as low as the planner can place them. The weight
// buffers follow in the free ranges (prefetch.h).

#include "engines/ethos_u/compiler/draft.h"
#include "engines/ethos_u/compiler/program_analysis.h"
#include "memory/arena.h"

namespace thimble::engine::ethos_u {

/// Assigns addresses to the tensors of a draft that contains only kernels as steps. Returns the
/// arena that also receives the weight buffers, of at most `limit` bytes. It contains the tensors
/// placed there.
[[nodiscard]] memory::Arena place_tensors(const ProgramAnalysis& network, MemoryMode mode,
                                          int64_t limit, Draft* draft);

}  // namespace thimble::engine::ethos_u
