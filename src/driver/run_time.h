#pragma once
// Estimated time and energy of one run: cycles of each call on the core with the wait states of its
// constants, cycles of delegates on their own clock. docs/cycles.md states the method, its
// validation and the error band.

#include <span>

#include "driver/compile.h"
#include "driver/op_rows.h"
#include "engine/part.h"

namespace thimble::driver {

/// Half of the error band of a run's time, in percent (docs/cycles.md, "Error band").
inline constexpr double kTimeErrorPercent = 20;

/// Returns the core cycles that a call waits for a memory with constants of `bytes` bytes, of which
/// it reads `accessed` bytes. Zero if the memory's timing is not known. A prefetch does not count:
/// flash accelerators read instructions ahead, not data (docs/cycles.md, "Wait states").
[[nodiscard]] double wait_cycles(const engine::PartMemory& memory, const engine::Core& core,
                                 int64_t bytes, int64_t accessed);

/// Returns true if the part's file states the timing of the memory that holds the constants.
[[nodiscard]] bool has_known_waits(const engine::Part& part);

/// Returns the core cycles that a call waits for its constants on the part.
[[nodiscard]] double constant_wait_cycles(const engine::Lowered& lowered,
                                          const engine::KernelCall& call, const engine::Part& part);

/// Fills cycles and times of report->ops, and the totals. Times need the clocks of the part.
void report_time(const engine::Lowered& lowered, const engine::Part& part,
                 std::span<const RowOp> rows, CompileReport* report);

}  // namespace thimble::driver
