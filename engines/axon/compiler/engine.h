// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Nordic AXON NPU as an engine of a part: calls legalize.h, lower.h, place() and write.h.

#include "engine/engine.h"

namespace thimble::engine::axon {

extern const Npu kEngine;

[[nodiscard]] std::vector<NpuName> npus();

/// Returns the rows of `thimble targets NAME`, in the order of ops.def.
[[nodiscard]] std::vector<OpSupport> supported(const PartNpu& use);

}  // namespace thimble::engine::axon
