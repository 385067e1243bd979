// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arithmetic of the output stage: a wide product, shifted right with one of seven rounding modes.

#include <stdint.h>

#include "engines/ethos_u/isa/isa.h"
#include "engines/ethos_u/sim/operation.h"

namespace thimble::ethos_u::sim {

/// Rounding modes of all generations. kDouble rounds twice: half up at bit 31 - double_round of the
/// product, then half away from zero.
enum class Rounding : uint8_t {
  kDouble,
  kNatural,           // half up
  kDoubleAsymmetric,  // half up, twice
  kSymmetric,         // half away from zero
  kToZero,
  kDown,
};

[[nodiscard]] inline Rounding rounding556(uint8_t mode) {
  if (mode == static_cast<uint8_t>(Round556::kTruncate)) return Rounding::kDown;
  return mode == static_cast<uint8_t>(Round556::kNatural) ? Rounding::kNatural : Rounding::kDouble;
}
/// The values of Round85 and Rounding are equal.
[[nodiscard]] inline Rounding rounding85(uint8_t mode) {
  return static_cast<Rounding>(mode);
}

/// Returns the term that is added before the arithmetic shift right.
[[nodiscard]] inline int64_t rounding_term(bool negative, uint32_t shift, Rounding mode,
                                           uint32_t double_round) {
  if (shift == 0 || mode == Rounding::kDown) return 0;
  if (mode == Rounding::kToZero) {
    return negative ? static_cast<int64_t>((uint64_t{1} << shift) - 1) : 0;  // shift <= 63
  }
  const int64_t half = int64_t{1} << (shift - 1);
  if (mode == Rounding::kSymmetric) return negative ? half - 1 : half;
  if (mode == Rounding::kNatural || double_round > 30 || shift <= 31 - double_round) return half;
  const int64_t first = int64_t{1} << (30 - double_round);
  return half + (negative && mode == Rounding::kDouble ? -first : first);
}

/// Returns the low 64 bits of value * multiplier >> shift, rounded. The product has up to 96 bits.
[[nodiscard]] int64_t scale_wide(int64_t value, uint32_t multiplier, uint32_t shift, Rounding mode,
                                 uint32_t double_round);

[[nodiscard]] inline int64_t scale_by(int64_t value, uint32_t multiplier, uint32_t shift,
                                      Rounding mode, uint32_t double_round) {
  constexpr int64_t kNarrow = int64_t{1} << 29;
  if (value <= -kNarrow || value >= kNarrow) {
    return scale_wide(value, multiplier, shift, mode, double_round);
  }
  const int64_t term = rounding_term(value < 0, shift, mode, double_round);
  // A 32 x 32-bit product needs one instruction, a 64 x 64-bit product several.
  return (int64_t{static_cast<int32_t>(value)} * multiplier + term) >> shift;
}
[[nodiscard]] inline int64_t scale_by(int64_t value, const Scale& scale, Rounding mode) {
  return scale_by(value, scale.multiplier, scale.shift, mode, scale.double_round);
}

/// Wraps `value` to a two's complement integer of `bits` bits.
[[nodiscard]] inline int64_t wrap(int64_t value, uint32_t bits) {
  const uint32_t spare = 64 - bits;
  return static_cast<int64_t>(static_cast<uint64_t>(value) << spare) >> spare;
}

}  // namespace thimble::ethos_u::sim
