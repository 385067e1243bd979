// SPDX-License-Identifier: Apache-2.0
#pragma once
// Exact placement: a depth-first search that finds the best placement or runs out of steps.
//
// In every placement the buffers can be moved down until each starts at 0 or directly above a
// neighbor. The buffers can then be listed by ascending offset. The search builds these lists: the
// next buffer gets the lowest offset that the placed neighbors allow, not below the previous one. A
// branch ends in two cases. First, the unplaced buffers live at some step do not fit above the
// placed ones. Second, an unplaced buffer would have fit entirely below the buffer just placed, so
// the list is not in ascending order.
//
// Before the search, buffers that always fit are removed: the holes between their neighbors cannot
// all be too small. The rest is split into components that are never live together. The
// steps near the step with the most live bytes often need as much memory as the whole problem. The
// search solves these steps alone to prove a lower bound.

#include <cstdint>
#include <vector>

#include "memory/placement_problem.h"

namespace thimble::memory {

/// Improves `placement` if a better one is found, and raises its lower bound if one is proven.
/// Places about `steps` buffers at most for each component.
void improve(const Problem& problem, int64_t steps, Placement* placement);

}  // namespace thimble::memory
