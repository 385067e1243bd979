// SPDX-License-Identifier: Apache-2.0
#pragma once
// Values of the attribute `function` of int_pair and int_reduce. docs/numerics.md, "Integers", has
// the formulas.

#include <cstdint>

namespace thimble::ir {

enum class IntFunction : int64_t {
  kAdd = 0,
  kSub = 1,
  kMul = 2,
  kFloorDivide = 3,
  kTruncateDivide = 4,
  kRemainder = 5,  // has the sign of the divisor
  kFmod = 6,       // has the sign of the dividend
  kAnd = 7,
  kOr = 8,
  kXor = 9,
};
inline constexpr int64_t kIntFunctions = 10;

enum class IntReduction : int64_t { kSum = 0, kMax = 1, kMin = 2, kArgmax = 3, kArgmin = 4 };
inline constexpr int64_t kIntReductions = 5;

}  // namespace thimble::ir
