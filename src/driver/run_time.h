// SPDX-License-Identifier: Apache-2.0
#pragma once
// Estimated time and energy of one run: cycles of each call on the core with the wait states of its
// operands and instructions, of the runtime between the calls, and of delegates on their own clock.
// docs/cycles.md states the method, its validation and the error band.

#include <cstdint>
#include <optional>
#include <span>

#include "driver/compile.h"
#include "driver/missing_waits.h"
#include "driver/op_rows.h"
#include "driver/operand_memories.h"
#include "engine/part.h"

namespace thimble::driver {

/// Half of the error band of a run's time, in percent (docs/cycles.md, "Error band").
inline constexpr double kTimeErrorPercent = 20;
/// A time has no error band, and meets no requirement, if operators with more than this share of it
/// are marked (docs/cycles.md, "Marked estimates").
inline constexpr double kMarkedPercentMax = 5;

/// Returns true if a time has an error band. It was validated for measured operators on cores whose
/// memories are modelled, not for NPUs. `marked_percent`: as CompileReport::marked_percent.
[[nodiscard]] bool has_time_band(const engine::Core& core, const MissingWaits& missing,
                                 bool has_npu, double marked_percent);

/// Returns the wait states of a call that takes `cycles` cycles without them: those of its operands
/// and of its instructions. `instruction`: index of the call in the program.
[[nodiscard]] int64_t call_wait_cycles(const engine::Lowered& lowered,
                                       const engine::KernelCall& call, size_t instruction,
                                       const engine::Core& core, const OperandMemories& memories,
                                       int64_t cycles);

/// Returns the cycles of a run outside of kernels, with the wait states of instructions; nothing if
/// they were not measured on the core.
[[nodiscard]] std::optional<int64_t> runtime_cycles(const engine::RuntimeWork& work,
                                                    const engine::Core& core,
                                                    const OperandMemories& memories);

/// Returns the time of a delegate call on the NPU; nothing if its clock is not known.
[[nodiscard]] std::optional<double> npu_call_us(const engine::NpuTiming& timing, double cycles);

/// Returns the time of one run in which the core and the NPUs do not work at the same time; if they
/// do, overlap_time() is subtracted (overlap.h). Nothing if a clock, the cycles of the core or the
/// time of a call are not known.
[[nodiscard]] std::optional<double> run_time_us(
    int64_t core_cycles, double core_mhz, std::span<const std::optional<double>> npu_calls_us);

/// Fills cycles and times of report->ops, and the totals. Times need the clocks of the part.
/// The runtime's cycles are those of report->runtime_work; C code calls the kernels itself.
void report_time(const engine::Lowered& lowered, const engine::Part& part,
                 std::span<const RowOp> rows, const OperandMemories& memories,
                 CompileReport* report);

}  // namespace thimble::driver
