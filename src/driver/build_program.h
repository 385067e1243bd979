// SPDX-License-Identifier: Apache-2.0
#pragma once
// From the integer graph to the bytes of a program: partition, lowering, memory plan, `.pte`.

#include <cstdint>
#include <optional>

#include "driver/engines.h"
#include "driver/stages.h"

namespace thimble::driver {

/// Partitions and lowers program->compiled.integer_graph, plans its memory and writes the `.pte`.
/// `sram_bytes` is a budget for arena, variables and stack: stack and variables depend on the
/// kernels, which are known only after lowering, so a program that is too large is built again with
/// a smaller budget for the arena. A result may be larger than the budget: the caller compares.
[[nodiscard]] Status build_program(const CompileOptions& options, std::optional<int64_t> sram_bytes,
                                   const CpuOnlyNodes& off, Program* program, StageFiles* files);

}  // namespace thimble::driver
