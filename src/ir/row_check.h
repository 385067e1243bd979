// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checks an operator against its row of ops.def: number of operands, names and kinds of attributes.
// Shared by Graph::add and the verifier. ir/infer.h checks types.

#include <span>

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::ir {

/// Checks that the number of operands matches the row and that only optional operands are absent.
[[nodiscard]] Status check_operands(OpKind kind, std::span<const ValueId> inputs);

/// Returns the attributes in the order of the row, without those that equal their default. Unknown
/// names, missing values, wrong kinds and NaN are errors.
[[nodiscard]] Result<Attrs> normalized(OpKind kind, const Attrs& attrs);

}  // namespace thimble::ir
