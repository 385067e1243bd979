// SPDX-License-Identifier: Apache-2.0
#pragma once
// Packed calls: calls whose constants the compiler has laid out for one instruction set.
//
// Each packed form is an operator of its own in abi/pte_ops.def ("thimble::conv2d.mve"), so a
// runtime without a kernel for it rejects the file. abi/params describes its bytes; a
// portable kernel reads the same bytes on every other machine. fast.def has one row per packed
// form: an instruction set or any, the IR operator, and the function that makes the call.
//
// Several rows may support the operator's shape. Then the one with the fewest instructions in
// costs.def (counted under QEMU) is chosen; without measurements, the first. If no row matches,
// select.cpp makes the general call. This choice optimizes speed; kernel_variants.h chooses for
// flash and size.

#include <optional>
#include <vector>

#include "engine/engine.h"
#include "ir/graph.h"

namespace thimble::engine::cortex_m {

/// Returns a call without result and operator index; nothing if it does not support the shape.
using PackFunction = std::optional<KernelCall>(const ir::Graph& graph, const ir::Op& op);

#define THIMBLE_FAST(isa, kind, function) PackFunction function;
#define THIMBLE_FAST_ANY(kind, function) PackFunction function;
#include "engines/cortex_m/compiler/fast.def"
#undef THIMBLE_FAST
#undef THIMBLE_FAST_ANY

/// Returns all packed calls that support the operator; the fastest is the first.
[[nodiscard]] std::vector<KernelCall> fast_calls(const ir::Graph& graph, const ir::Op& op,
                                                 const Core& target);

}  // namespace thimble::engine::cortex_m
