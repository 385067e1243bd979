// SPDX-License-Identifier: Apache-2.0
#pragma once
// Integers that are computed at run time become 32 bits wide. PyTorch computes positions, masks and
// lengths in 64 bits, which a Cortex-M does in several instructions and for which kernels would
// need a second form.
//
// Before: operators int_* on i32 or i64. After: none of them, and no movement, selection or
// comparison of a value that they computed, has i64 operands. Graph inputs and outputs keep their
// types: int_cast converts them, and saturates. Constants must fit 32 bits; a constant that does
// not is refused with the operator that reads it. Arithmetic in 32 bits wraps (docs/numerics.md,
// "Integers"). Reductions of i32, i64 and bool to their largest or smallest element, or its
// position, become int_reduce. A graph without such operators does not change.
//
// Test: tests/text/passes/narrow_integers.ir.

#include "ir/graph.h"

namespace thimble::passes {

[[nodiscard]] Result<ir::Graph> narrow_integers(const ir::Graph& graph);

}  // namespace thimble::passes
