// SPDX-License-Identifier: Apache-2.0
#pragma once
// Delegate calls that run while the core executes further calls (abi::DelegateRecord::overlap).

#include <cstddef>
#include <vector>

#include "formats/pte/program.h"

namespace thimble::formats::pte {

/// A delegate call, and the number of calls after it that run while the delegate works.
struct DelegateOverlap {
  size_t call = 0;      // index of the delegate's call in the first chain
  size_t delegate = 0;  // row of the plan's delegates
  size_t calls = 0;     // call + 1 to call + calls; all exist
};

/// Returns the delegate calls of the plan with at least one such call. Ignores records that the
/// runtime refuses.
[[nodiscard]] std::vector<DelegateOverlap> delegate_overlaps(const Program& program,
                                                             const ExecutionPlan& plan);

}  // namespace thimble::formats::pte
