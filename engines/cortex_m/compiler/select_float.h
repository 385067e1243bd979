// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kernel calls of operators that stay in float32. The kernels are those of ExecuTorch's files
// (abi/ops/aten.def) and Thimble's (abi/ops/float.def), which are faster, or replace an operator of
// ATen with results that a network does not read.

#include <optional>

#include "engine/engine.h"

namespace thimble::engine::cortex_m {

/// Returns true if the operator computes float32 elements, or reads them.
[[nodiscard]] bool is_float(const ir::Graph& graph, const ir::Op& op);

/// Returns true if ATen's average pool has this result: its padding is the same on both sides, or
/// ends as its ceil_mode gives.
[[nodiscard]] bool float_pool_fits(const ir::Graph& graph, const ir::Op& op);

/// Returns why a float operator has no kernel; empty if it has one.
[[nodiscard]] std::string float_refusal(const ir::Graph& graph, const ir::Op& op);

/// Returns the call of a float operator for which float_refusal() is empty; nothing if it is a
/// direct operator (engine/direct.h).
[[nodiscard]] std::optional<KernelCall> float_call(const ir::Graph& graph, const ir::Op& op);

}  // namespace thimble::engine::cortex_m
