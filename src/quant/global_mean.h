#pragma once
// Average pools over whole images, as means.
//
// An average has a far smaller range than what it is the average of. A pool shares its operand's
// scale; a mean has its own, and with it all codes.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::quant {

/// The same function. For targets whose mean is as fast as their pool.
[[nodiscard]] Result<ir::Graph> pools_to_means(const ir::Graph& graph);

}  // namespace thimble::quant
