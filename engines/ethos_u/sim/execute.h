#pragma once
// One operation, from start to end: it reads, computes and writes, all through `memory`.
//
// There is no time here. Kernels must be executed in their order of issue (chaining buffers and
// kept accumulators live from one to the next, in `workspace` and `memory`); how kernels and DMAs
// interleave, and when writes land (Memory::sink), is the caller's affair.
//
// The fault's word is 0: the caller knows it. After a fault memory holds whatever was written until
// then.

#include "engines/ethos_u/sim/fault.h"
#include "engines/ethos_u/sim/memory.h"
#include "engines/ethos_u/sim/operation.h"

namespace thimble::ethos_u::sim {

[[nodiscard]] Fault execute(const Config& config, const KernelOperation& operation, Memory& memory,
                            Workspace& workspace);
[[nodiscard]] Fault execute(const Config& config, const DmaOperation& operation, Memory& memory);

/// Bytes of workspace that the operation needs while it runs, and bytes that it keeps for the
/// operations after it (`keeps`).
[[nodiscard]] size_t workspace_of(const Config& config, const KernelOperation& operation,
                                  size_t* keeps);

/// Products, reads or bytes that the operation costs here, about; so that streams that nobody made
/// can be given a limit. Saturates.
[[nodiscard]] uint64_t work_of(const KernelOperation& operation);
[[nodiscard]] uint64_t work_of(const DmaOperation& operation);

/// Whether the operation can want what operations before it kept; else all of that is given back.
[[nodiscard]] bool continues_chain(const KernelOperation& operation);

}  // namespace thimble::ethos_u::sim
