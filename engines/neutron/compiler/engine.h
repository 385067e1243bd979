#pragma once
// NXP's Neutron NPU as an engine of a part: form.h, lower.h, place.h, write.h in one call.

#include "target/target.h"

namespace thimble::target::neutron {

extern const Engine kEngine;

[[nodiscard]] std::vector<EngineName> engines();

/// For `thimble targets NAME`, in the order of ops.def.
[[nodiscard]] std::vector<OpSupport> supported(const EngineUse& use);

}  // namespace thimble::target::neutron
