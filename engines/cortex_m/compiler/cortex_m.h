#pragma once
// Cortex-M: one engine, the CPU, in ten variants that differ by instruction set only.
// The stages of lower(), each a function from graph to graph but the last:
//   legalize         operators and forms that the dialect has            legalize.h
//   assign_layouts   memory orders, copies where they are unavoidable    layout.h
//   select_calls     one kernel call per operator that does work         select.h

#include <span>

#include "engine/engine.h"

namespace thimble::engine::cortex_m {
[[nodiscard]] std::span<const Core> cores();
}
