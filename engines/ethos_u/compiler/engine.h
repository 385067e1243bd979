#pragma once
// The Ethos-U as an engine of a part.

#include "target/target.h"

namespace thimble::target::ethos_u {

extern const Engine kEngine;

/// One per configuration.
[[nodiscard]] std::vector<EngineName> engines();

/// For `thimble targets NAME`, in the order of ops.def.
[[nodiscard]] std::vector<OpSupport> supported(const EngineUse& use);

}  // namespace thimble::target::ethos_u
