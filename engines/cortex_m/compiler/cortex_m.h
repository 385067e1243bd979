// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Cortex-M CPUs: ten cores that differ only in their instruction set.
// lower() runs these stages; each is a function from graph to graph, except the last:
//   legalize         operators that the dialect's kernels support          legalize.h
//   assign_layouts   memory orders, and copies where they are unavoidable  layout.h
//   select_calls     one kernel call per operator that is not only a view  select.h

#include <span>
#include <string_view>

#include "engine/engine.h"

namespace thimble::engine::cortex_m {
[[nodiscard]] std::span<const Core> cores();
/// Returns the core whose object files the core's firmware links (cores.def).
[[nodiscard]] std::string_view image_core(std::string_view core);
/// Returns the core whose measured cost functions are used for `core` (cores.def).
[[nodiscard]] std::string_view measured_core(std::string_view core);
}  // namespace thimble::engine::cortex_m
