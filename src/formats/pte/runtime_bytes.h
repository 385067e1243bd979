// SPDX-License-Identifier: Apache-2.0
#pragma once
// Size of the runtime's arrays after the arena, for a program on a Cortex-M.

#include <cstdint>

#include "formats/pte/program.h"

namespace thimble::formats::pte {

/// Without the memory of a vendor's driver (abi/runtime_memory.h).
[[nodiscard]] int64_t runtime_bytes(const ExecutionPlan& plan);

}  // namespace thimble::formats::pte
