#pragma once
// Direct operators: native operators whose call is the IR operator as it is. Operands in order,
// constants in logical order, then the attributes as words (ir/attr_words.h). `thimble::matmul.out`
// is the direct form of `qmatmul`, `thimble::amax.out` that of `amax`: rows of abi/pte_ops.def are
// found by name, so an operator needs no code here.

#include <optional>

#include "abi/pte_ops.h"
#include "engine/engine.h"

namespace thimble::engine::cortex_m {

/// The row of this operator; none if it has no native form of its own.
[[nodiscard]] std::optional<abi::PteOp> direct_op(ir::OpKind kind);

/// The constant that holds the attributes; nullopt if the operator has none.
[[nodiscard]] Result<std::optional<Constant>> direct_attributes(const ir::Op& op);

/// Bytes that the kernel works in besides its operands, where the row of abi/pte_ops.def has an s.
[[nodiscard]] int64_t direct_scratch_bytes(const ir::Graph& graph, const ir::Op& op);

}  // namespace thimble::engine::cortex_m
