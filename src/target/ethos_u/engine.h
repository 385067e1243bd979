#pragma once
// The Ethos-U as an engine of a part.

#include "target/target.h"

namespace thimble::target::ethos_u {

extern const Engine kEngine;

/// One per configuration.
[[nodiscard]] std::vector<EngineName> engines();

}  // namespace thimble::target::ethos_u
