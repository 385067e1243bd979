// SPDX-License-Identifier: Apache-2.0
#pragma once
// Estimated cost of a kernel call on a core, from tables of measurements.
//
// For each operator and core the cost is a linear function of the sizes of the call
// (engine::CostTerms). benchmarks/instructions/measure.py counts the instructions of whole networks
// under QEMU and models their cycles (src/cycles), fits the coefficients and writes costs.def and
// cycles.def. tests/e2e compares estimates with counts.

#include <cstdint>
#include <optional>

#include "engine/engine.h"
#include "engine/runtime_work.h"

namespace thimble::engine::cortex_m {

/// Returns the instructions of a call; nothing if its kernel was never measured on the core.
[[nodiscard]] std::optional<double> estimate(const ir::Graph& graph, const ir::Op& op,
                                             const KernelCall& call, const Core& core);
/// Like estimate(). If the kernel was not measured on the core, uses the measurement of a core
/// whose instructions are a subset of the core's.
[[nodiscard]] std::optional<double> estimate_or_subset(const ir::Graph& graph, const ir::Op& op,
                                                       const KernelCall& call, const Core& core);
/// Returns the bytes of code that the kernel adds to an image without other kernels
/// (linked_size.h); nothing if the core or the kernel has no table.
[[nodiscard]] std::optional<int64_t> code_bytes(abi::PteOp kernel, const Core& core);

/// Returns the cycles of a run outside of kernels; nothing if they were not measured on the core.
[[nodiscard]] std::optional<int64_t> runtime_cycles(const RuntimeWork& work, const Core& core);

/// Returns the sizes and costs of a call. If its kernel was never measured, the cycles are those of
/// an average operator of the same sizes.
[[nodiscard]] Cost cost_of(const Lowered& lowered, const KernelCall& call, const Core& core);

}  // namespace thimble::engine::cortex_m
