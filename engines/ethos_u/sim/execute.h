// SPDX-License-Identifier: Apache-2.0
#pragma once
// Executes one operation completely; all reads and writes use `memory`.
//
// Time is not modelled. Kernels must be executed in the order of issue, because chaining buffers
// and kept accumulators are passed from one kernel to the next in `workspace` and `memory`. The
// caller decides how kernels and DMAs interleave and when writes reach memory (Memory::sink).
//
// The word of a fault is 0; the caller sets it. After a fault, memory holds what was written before
// it.

#include "engines/ethos_u/sim/fault.h"
#include "engines/ethos_u/sim/memory.h"
#include "engines/ethos_u/sim/operation.h"

namespace thimble::ethos_u::sim {

[[nodiscard]] Fault execute(const Config& config, const KernelOperation& operation, Memory& memory,
                            Workspace& workspace);
[[nodiscard]] Fault execute(const Config& config, const DmaOperation& operation, Memory& memory);

/// Returns the workspace in bytes that the operation needs while it runs. `keeps` receives the
/// bytes that it keeps for later operations.
[[nodiscard]] size_t workspace_of(const Config& config, const KernelOperation& operation,
                                  size_t* keeps);

/// Returns the approximate number of products, reads or bytes that the operation costs in this
/// simulator. It is used to limit the work of untrusted streams. Saturates.
[[nodiscard]] uint64_t cost_of(const KernelOperation& operation);
[[nodiscard]] uint64_t cost_of(const DmaOperation& operation);

/// Returns true if the operation can read data that earlier operations kept; otherwise all of that
/// data is freed.
[[nodiscard]] bool continues_chain(const KernelOperation& operation);

}  // namespace thimble::ethos_u::sim
