// SPDX-License-Identifier: Apache-2.0
#pragma once
// Calls of the core that run while a delegate's device works (KernelCall::overlap).
//
// A call can run in the meantime if it neither needs a result of the delegate nor is needed by it.
// overlap_delegates() moves such calls directly after the call of the delegate, until the core has
// work for as long as the device. The plan keeps the delegate's scratch, inputs and outputs until
// the last of them, so no call uses this memory. find_overlap_conflict() proves it on the final
// addresses: Bernstein's conditions for each pair of delegate and call.
//
// Rules: at most one device works at the same time as the core. A delegate of another engine may
// run in between, but waits for its own results. The arena may grow by at most as many percent as
// the run becomes faster, not at all if it is to be the smallest, and never beyond its limit. Test:
// tests/unit/delegate_overlap_test.cpp.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "memory/memory_plan.h"

namespace thimble::memory {

struct OverlapOptions {
  std::vector<double> call_times;  // an estimate for each call, in one unit; 0: unknown
  bool smallest = false;           // the arena must not grow
  /// Returns true if a larger arena fits in its memory. If null, every arena fits.
  std::function<bool(const MemoryPlan&)> fits;
};

/// Changes the order of the calls, KernelCall::overlap, and the plan of the program, which has no
/// overlap yet. Nothing changes if no time is saved. Returns the time saved in one run.
double overlap_delegates(OverlapOptions options, engine::Lowered* lowered, MemoryPlan* memory_plan);

/// Returns why the calls that run while a delegate works must not; nullopt if they may.
[[nodiscard]] std::optional<std::string> find_overlap_conflict(const engine::Lowered& lowered,
                                                               const MemoryPlan& memory_plan);

}  // namespace thimble::memory
