// SPDX-License-Identifier: Apache-2.0
#pragma once
// Limits of the NPU and of its compiler library: the rows AXON_LIMIT of ops.def.

#include "base/result.h"
#include "engines/axon/compiler/network.h"

namespace thimble::engine::axon {

/// Returns an unsupported error for the first limit that the layer exceeds, with its value and the
/// nearest legal one.
[[nodiscard]] Status check_limits(const Layer& layer);

}  // namespace thimble::engine::axon
