#pragma once
// What the NPU and its compiler library take: the rows AXON_LIMIT of ops.def.

#include "base/result.h"
#include "engines/axon/compiler/network.h"

namespace thimble::engine::axon {

/// Not supported: the first limit that the layer passes, with its value and the nearest legal one.
[[nodiscard]] Status check_limits(const Layer& layer);

}  // namespace thimble::engine::axon
