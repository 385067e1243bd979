#pragma once
// Registers the Ethos-U as an engine.

#include "target/target.h"

namespace thimble::target::ethos_u {

extern const Engine kEngine;

/// Returns one engine name per configuration.
[[nodiscard]] std::vector<EngineName> engines();

/// Returns the rows of `thimble targets NAME`, in the order of ops.def.
[[nodiscard]] std::vector<OpSupport> supported(const EngineUse& use);

}  // namespace thimble::target::ethos_u
