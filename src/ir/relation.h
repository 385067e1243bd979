// SPDX-License-Identifier: Apache-2.0
#pragma once
// The relations of the operator `compare`.

#include <cstdint>

namespace thimble::ir {

/// Values of the attribute `relation`.
enum class Relation : int64_t { kEq = 0, kNe = 1, kLt = 2, kLe = 3, kGt = 4, kGe = 5 };

/// Returns true if the relation holds between the two numbers.
[[nodiscard]] constexpr bool holds(Relation relation, double a, double b) {
  switch (relation) {
    case Relation::kEq:
      return a == b;
    case Relation::kNe:
      return a != b;
    case Relation::kLt:
      return a < b;
    case Relation::kLe:
      return a <= b;
    case Relation::kGt:
      return a > b;
    case Relation::kGe:
      return a >= b;
  }
  return false;
}

}  // namespace thimble::ir
