#pragma once
// Operands with weights, and operators whose weights have 4 bits (attribute weight_bits).

#include <vector>

#include "ir/graph.h"

namespace thimble::ir {

/// Returns the operands of a convolution, linear or recurrent layer that have its weights.
[[nodiscard]] std::vector<size_t> weight_operands(OpKind kind);

/// Returns true for an operator with the attribute weight_bits of 4.
[[nodiscard]] bool has_int4_weights(const Op& op);

}  // namespace thimble::ir
