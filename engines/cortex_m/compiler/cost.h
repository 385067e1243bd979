#pragma once
// What a kernel call costs on a core, in instructions: an estimate from a table of measurements.
//
// Each operator has a law per core: so many instructions a call, so many per element of the result,
// so many per step of its innermost loop. benchmarks/instructions/measure.py counts instructions of
// whole networks under QEMU, fits the laws and writes costs.def; tests/e2e holds estimates against
// counts.

#include <cstdint>
#include <optional>

#include "engine/engine.h"

namespace thimble::engine::cortex_m {

/// Steps of the innermost loop: products of a convolution or matrix product, elements that a pool
/// or a reduction reads, elements of the result elsewhere.
[[nodiscard]] int64_t steps_of(const ir::Graph& graph, const ir::Op& op);

/// Of `kernel` in the place of an operator; nothing for one that was never measured.
[[nodiscard]] std::optional<double> estimate(const ir::Graph& graph, const ir::Op& op,
                                             abi::PteOp kernel, const Core& target);
/// Where the kernel was not measured on the core, as on a lesser one whose instructions it has.
[[nodiscard]] std::optional<double> estimate_or_lesser(const ir::Graph& graph, const ir::Op& op,
                                                       abi::PteOp kernel, const Core& target);
/// Bytes of code and constants that the kernel adds to an image: code.def, which
/// benchmarks/instructions/code.py writes.
[[nodiscard]] std::optional<int64_t> code_bytes(abi::PteOp kernel, const Core& target);
[[nodiscard]] std::optional<int64_t> instructions(const Lowered& lowered, const KernelCall& call,
                                                  const Core& target);

}  // namespace thimble::engine::cortex_m
