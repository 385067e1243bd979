#pragma once
// Estimated time and energy of one run: cycles of each call on the core with the wait states of its
// operands, of the runtime between the calls, and of delegates on their own clock. docs/cycles.md
// states the method, its validation and the error band.

#include <span>

#include "driver/compile.h"
#include "driver/op_rows.h"
#include "driver/operand_memories.h"
#include "engine/part.h"

namespace thimble::driver {

/// Half of the error band of a run's time, in percent (docs/cycles.md, "Error band").
inline constexpr double kTimeErrorPercent = 20;

/// Returns true if the part's file states the wait states of all memories with operands.
[[nodiscard]] bool has_known_waits(const OperandMemories& memories);

/// Fills cycles and times of report->ops, and the totals. Times need the clocks of the part.
/// `has_runtime`: the runtime runs a file; C code calls the kernels itself.
void report_time(const engine::Lowered& lowered, const engine::Part& part,
                 std::span<const RowOp> rows, const OperandMemories& memories, bool has_runtime,
                 CompileReport* report);

}  // namespace thimble::driver
