// SPDX-License-Identifier: Apache-2.0
#pragma once
// Traits of operators, derived from their category. A trait that more than one pass or engine asks
// for is here; a fact of one engine is a row of the engine's own ops.def.

#include "ir/op.h"

namespace thimble::ir {

/// Returns true for operators on images [N,C,H,W] that move a window over H and W: convolutions,
/// pools, resizes.
[[nodiscard]] constexpr bool is_window(OpKind kind) {
  switch (category_of(kind)) {
    case OpCategory::kConv:
    case OpCategory::kConvTranspose:
    case OpCategory::kPool:
    case OpCategory::kAdaptivePool:
    case OpCategory::kResize:
      return true;
    default:
      return false;
  }
}

/// Returns true if each element of the result is an element of an operand or a constant.
[[nodiscard]] constexpr bool only_moves(OpKind kind) {
  return category_of(kind) == OpCategory::kView || category_of(kind) == OpCategory::kMovement;
}

/// Returns true if each element of the result depends on one element of each operand (and on a
/// table). The operands broadcast.
[[nodiscard]] constexpr bool is_elementwise(OpKind kind) {
  switch (category_of(kind)) {
    case OpCategory::kFunction:
    case OpCategory::kTable:
    case OpCategory::kPair:
    case OpCategory::kElementwise:
      return true;
    default:
      return false;
  }
}

}  // namespace thimble::ir
