#pragma once
// Rows of counters, as the product gave them.

#include "thimble_axon.h"

namespace thimble::runtime::axon {

/// The row of a list, taken now if it has none yet; null if none is left.
thimble_axon_counter* take_counter(const thimble_axon& npu, const char* name);

}  // namespace thimble::runtime::axon
