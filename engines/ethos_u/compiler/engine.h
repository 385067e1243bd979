#pragma once
// The Ethos-U as an engine of a part.

#include "engine/engine.h"

namespace thimble::engine::ethos_u {

extern const Npu kEngine;

/// One per configuration.
[[nodiscard]] std::vector<NpuName> npus();

/// For `thimble targets NAME`, in the order of ops.def.
[[nodiscard]] std::vector<OpSupport> supported(const PartNpu& use);

}  // namespace thimble::engine::ethos_u
