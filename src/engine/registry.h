// SPDX-License-Identifier: Apache-2.0
#pragma once
// The rows of engines, which the build writes from the files engines/*/engine.cmake of this tree
// and of THIMBLE_EXTRA_TARGETS (cmake/engine_rows.cmake): no registration by static initialisation.

#include <span>
#include <vector>

#include "engine/engine.h"

namespace thimble::engine {

/// A function that the header of a row declares as cores().
using CoreList = std::span<const Core>();
[[nodiscard]] std::span<CoreList* const> core_rows();

/// A function that the header of a row declares as npus().
using NpuList = std::vector<NpuName>();
[[nodiscard]] std::span<NpuList* const> npu_rows();

}  // namespace thimble::engine
