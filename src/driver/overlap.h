// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lets the core work while NPUs do (memory/delegate_overlap.h), with the estimated times of the
// calls, and reports the time that this saves.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "driver/compile.h"
#include "engine/part.h"
#include "memory/memory_plan.h"

namespace thimble::driver {

struct OverlapLimits {
  bool smallest = false;              // the arena must not grow
  std::optional<int64_t> sram_bytes;  // for the arena and the runtime's arrays; nothing: no limit
};

/// Changes the order of the calls and the plan if that saves time. Returns the bytes that the arena
/// has grown; it may have become smaller.
int64_t overlap_calls(const engine::Part& part, const OverlapLimits& limits,
                      engine::Lowered* lowered, memory::MemoryPlan* memory_plan);

/// Time in which both the delegate of call `at` and one of the `calls` calls after it work.
/// `times`: of each call, in one unit. Nothing if one is not known.
[[nodiscard]] std::optional<double> overlap_time(std::span<const std::optional<double>> times,
                                                 size_t at, size_t calls);

/// Sets report->overlaps. `core_cycles`: by call, with wait states; nothing for delegates.
void report_overlaps(const engine::Lowered& lowered, double core_mhz,
                     std::span<const std::optional<int64_t>> core_cycles, CompileReport* report);

/// Sums OverlapReport::saved_us; 0 if one is not known.
[[nodiscard]] double overlap_saved_us(const CompileReport& report);

}  // namespace thimble::driver
