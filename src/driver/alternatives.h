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
  double seconds = 0;  // time to write its program
};

/// Compiles the integer graph again in each way that can need less of the memory `over`; null: a
/// placement in several memories failed. Returns also those that are too large. Starts no
/// compilation that would end after kAlternativeSecondsMax if it takes as long as the others.
[[nodiscard]] Alternatives find_alternatives(const RefusedProgram& refused, const MemoryUse* over);

inline constexpr double kAlternativeSecondsMax = 8;

}  // namespace thimble::driver
