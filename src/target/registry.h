#pragma once
// The rows of engines, which the build writes from the files engines/*/engine.cmake of this tree
// and of THIMBLE_EXTRA_TARGETS (cmake/registry.cmake): no registration by static initialisation.

#include <span>
#include <vector>

#include "target/target.h"

namespace thimble::target {

/// What the header of a row declares as engines().
using EngineList = std::vector<EngineName>();
[[nodiscard]] std::span<EngineList* const> engine_rows();

}  // namespace thimble::target
