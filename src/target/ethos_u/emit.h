#pragma once
// Emits a schedule as commands: registers, waits, BLOCKDEP.

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "target/ethos_u/plan.h"

namespace thimble::target::ethos_u {

[[nodiscard]] Result<std::vector<uint32_t>> emit(const NpuProgram& program,
                                                 const Schedule& schedule);

}  // namespace thimble::target::ethos_u
