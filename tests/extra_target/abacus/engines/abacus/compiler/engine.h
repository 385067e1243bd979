#pragma once
// The Abacus as an engine of a part.

#include "target/target.h"

namespace thimble::target::abacus {

[[nodiscard]] std::vector<EngineName> engines();

}  // namespace thimble::target::abacus
