#pragma once
// A `.pte` back into IR: what `run --on eval` evaluates, and the proof that every number a kernel
// gets is understood.
//
// The file knows memory, not values, so the lifter follows memory: a call writes its result at an
// address, and whoever reads that address later reads the result, through a permute and a reshape
// where it is read in another form. Works for both dialects and for files of other writers as far
// as pte_ops.def goes; what it does not know is an `unsupported` error.

#include <vector>

#include "base/result.h"
#include "formats/pte/program.h"
#include "ir/graph.h"

namespace thimble::emit {

/// The program must come from formats::pte::read, which has checked every index. The plan is
/// "forward", or the first.
[[nodiscard]] Result<ir::Graph> lift(const formats::pte::Program& program);

struct Lifted {
  ir::Graph graph;
  std::vector<ir::ValueId> results;  // of each instruction
};
[[nodiscard]] Result<Lifted> lift_with_results(const formats::pte::Program& program);

}  // namespace thimble::emit
