#pragma once
// The Nordic AXON NPU as an engine of a part: form.h, lower.h, place.h, write.h in one call.

#include "engine/engine.h"

namespace thimble::engine::axon {

extern const Npu kEngine;

[[nodiscard]] std::vector<NpuName> npus();

/// For `thimble targets NAME`, in the order of ops.def.
[[nodiscard]] std::vector<OpSupport> supported(const PartNpu& use);

}  // namespace thimble::engine::axon
