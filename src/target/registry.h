#pragma once
// The list of engines. The build generates it from the files src/target/*/target.cmake of this tree
// and of THIMBLE_EXTRA_TARGETS (cmake/registry.cmake); there is no registration by static
// initialization.

#include <span>
#include <vector>

#include "target/target.h"

namespace thimble::target {

/// Type of the function engines() that each engine's header declares.
using EngineList = std::vector<EngineName>();
[[nodiscard]] std::span<EngineList* const> engine_rows();

}  // namespace thimble::target
