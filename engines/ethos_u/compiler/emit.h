// SPDX-License-Identifier: Apache-2.0
#pragma once
// Emits a schedule as commands: registers, waits, BLOCKDEP.

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "engines/ethos_u/compiler/plan.h"

namespace thimble::engine::ethos_u {

struct Emitted {
  std::vector<uint32_t> words;
  std::vector<std::vector<uint32_t>> words_of_op;  // by NpuProgram::ops: its kernels and DMAs
};

[[nodiscard]] Result<Emitted> emit(const NpuProgram& program, const Schedule& schedule);

}  // namespace thimble::engine::ethos_u
