// SPDX-License-Identifier: Apache-2.0
#pragma once
// Registers the Ethos-U as an NPU.

#include "engine/engine.h"

namespace thimble::engine::ethos_u {

extern const Npu kEngine;

/// Returns one name per configuration.
[[nodiscard]] std::vector<NpuName> npus();

/// Returns the rows of `thimble targets NAME`, in the order of ops.def.
[[nodiscard]] std::vector<OpSupport> supported(const PartNpu& use);

}  // namespace thimble::engine::ethos_u
