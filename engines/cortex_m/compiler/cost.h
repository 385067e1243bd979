#pragma once
// Estimated cost of a kernel call on a core, in instructions, from a table of measurements.
//
// For each operator and core the cost is a linear function: instructions per call, per result
// element, and per step of the innermost loop. benchmarks/instructions/measure.py counts the
// instructions of whole networks under QEMU, fits the coefficients and writes costs.def. tests/e2e
// compares estimates with counts.

#include <cstdint>
#include <optional>

#include "engine/engine.h"

namespace thimble::engine::cortex_m {

/// Returns the steps of the innermost loop: products of a convolution or matrix product, elements
/// that a pool or reduction reads, result elements of other operators.
[[nodiscard]] int64_t steps_of(const ir::Graph& graph, const ir::Op& op);

/// The windows of a convolution that has windows of several pixels and is not depthwise; zeros for
/// other operators.
struct Windows {
  int64_t elements = 0;  // of all windows
  int64_t rows = 0;      // of all windows
};
[[nodiscard]] Windows windows_of(const ir::Graph& graph, const ir::Op& op);

/// Returns the instructions if `kernel` computes the operator; nothing if it was never measured.
[[nodiscard]] std::optional<double> estimate(const ir::Graph& graph, const ir::Op& op,
                                             abi::PteOp kernel, const Core& target);
/// Like estimate(). If the kernel was not measured on the core, uses the measurement of a core
/// whose instructions are a subset of the core's.
[[nodiscard]] std::optional<double> estimate_or_subset(const ir::Graph& graph, const ir::Op& op,
                                                       abi::PteOp kernel, const Core& target);
/// Returns the bytes of code and constants that the kernel adds to an image: code.def, which
/// benchmarks/instructions/code.py writes.
[[nodiscard]] std::optional<int64_t> code_bytes(abi::PteOp kernel, const Core& target);
[[nodiscard]] std::optional<int64_t> instructions(const Lowered& lowered, const KernelCall& call,
                                                  const Core& target);

}  // namespace thimble::engine::cortex_m
