#pragma once
// Exact placement: a depth-first search that either finds the best placement or runs out of steps.
//
// Every placement can be pushed down until each buffer lies at 0 or on a neighbour, and its buffers
// then be listed by rising offset. The search builds such lists: the next buffer goes where the
// placed neighbours let it, not lower than the last one. It leaves a branch when at some moment
// what is still to come does not fit above what is there, or when a buffer that is still to come
// would have fitted below the one just placed (then pushing down would change the list).
//
// Before that, buffers go that fit whatever the others do, because the holes between their
// neighbours cannot all be too small; what is left falls into parts that never meet. And a few
// moments around the fullest one often need as much as the whole: they are tried first, as a bound.

#include <cstdint>
#include <vector>

#include "plan/problem.h"

namespace thimble::plan {

/// A better placement than `placement` if there is one, and a higher bound if one is proven. Not
/// more than `steps` buffers are placed on the way.
void improve(const Problem& problem, int64_t steps, Placement* placement);

}  // namespace thimble::plan
