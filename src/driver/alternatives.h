// SPDX-License-Identifier: Apache-2.0
#pragma once
// Other ways to compile a network that does not fit: other options, or a larger part.

#include <vector>

#include "driver/compile.h"
#include "driver/does_not_fit.h"
#include "driver/engines.h"
#include "ir/graph.h"

namespace thimble::driver {

/// The compilation whose result does not fit. All members must outlive the call.
struct RefusedProgram {
  const CompileOptions& asked;    // without the part's recipe
  const CompileOptions& options;  // with it
  const CpuOnlyNodes& off;
  const ir::Graph& integer_graph;
  const Compiled& compiled;
  int64_t effort = 0;  // Program::effort of its program
};

/// Compiles the integer graph again in each way that can need less of the memory `over`; null: a
/// placement in several memories failed. Returns also those that are too large. Starts no
/// compilation if the sum of all would exceed kAlternativeEffortMax with one as large as the
/// largest. The effort is counted, not timed: the same network gives the same text on every
/// machine.
[[nodiscard]] Alternatives find_alternatives(const RefusedProgram& refused, const MemoryUse* over);

/// In squared operator counts of memory plans: some seconds.
inline constexpr int64_t kAlternativeEffortMax = 4'000'000;

}  // namespace thimble::driver
