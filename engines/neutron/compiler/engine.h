// SPDX-License-Identifier: Apache-2.0
#pragma once
// NXP's Neutron NPU as an engine of a part: calls legalize.h, lower.h, place.h and write.h.

#include "engine/engine.h"

namespace thimble::engine::neutron {

extern const Npu kEngine;

[[nodiscard]] std::vector<NpuName> npus();

/// Returns the rows of `thimble targets NAME`, in the order of ops.def.
[[nodiscard]] std::vector<OpSupport> supported(const PartNpu& use);

}  // namespace thimble::engine::neutron
