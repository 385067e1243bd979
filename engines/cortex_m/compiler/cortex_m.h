#pragma once
// The Cortex-M CPUs: ten cores that differ only in their instruction set.
// lower() runs these stages; each is a function from graph to graph, except the last:
//   legalize         operators that the dialect's kernels support          legalize.h
//   assign_layouts   memory orders, and copies where they are unavoidable  layout.h
//   select_calls     one kernel call per operator that is not only a view  select.h

#include <span>

#include "engine/engine.h"

namespace thimble::engine::cortex_m {
[[nodiscard]] std::span<const Core> cores();
}
