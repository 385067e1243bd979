#pragma once
// Direct operators: native operators whose call has the same signature as the IR operator. The
// arguments are the operands in order, with constants in logical order, then the attributes as
// words (ir/attr_words.h). `thimble::matmul.out` is the direct operator of `qmatmul`,
// `thimble::amax.out` that of `amax`. Rows of abi/pte_ops.def are found by name, so a new operator
// needs no code here.

#include <optional>

#include "abi/pte_ops.h"
#include "engine/engine.h"

namespace thimble::engine::cortex_m {

/// Returns the operator's row in abi/pte_ops.def; nothing if it has no direct operator.
[[nodiscard]] std::optional<abi::PteOp> direct_op(ir::OpKind kind);

/// Returns the constant with the attributes; nullopt if the operator has none.
[[nodiscard]] Result<std::optional<Constant>> direct_attributes(const ir::Op& op);

/// Returns the size of the kernel's scratch, for rows of abi/pte_ops.def with an argument s.
[[nodiscard]] int64_t direct_scratch_bytes(const ir::Graph& graph, const ir::Op& op);

}  // namespace thimble::engine::cortex_m
