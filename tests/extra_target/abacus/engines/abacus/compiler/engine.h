// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Abacus as an engine of a part.

#include "engine/engine.h"

namespace thimble::engine::abacus {

[[nodiscard]] std::vector<NpuName> npus();

}  // namespace thimble::engine::abacus
