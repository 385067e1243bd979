#pragma once
// NXP's Neutron NPU as an engine: runs form.h, lower.h, place.h and write.h in sequence.

#include "target/target.h"

namespace thimble::target::neutron {

extern const Engine kEngine;

[[nodiscard]] std::vector<EngineName> engines();

/// Returns the supported operators for `thimble targets NAME`, in the order of ops.def.
[[nodiscard]] std::vector<OpSupport> supported(const EngineUse& use);

}  // namespace thimble::target::neutron
