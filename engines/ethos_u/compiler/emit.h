#pragma once
// Emits a schedule as commands: registers, waits, BLOCKDEP.

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "engines/ethos_u/compiler/plan.h"

namespace thimble::engine::ethos_u {

[[nodiscard]] Result<std::vector<uint32_t>> emit(const NpuProgram& program,
                                                 const Schedule& schedule);

}  // namespace thimble::engine::ethos_u
