// SPDX-License-Identifier: Apache-2.0
#pragma once
// Changes of one word, for mutations of files on emulated boards and on the host (tests/fuzz).

#include <cstddef>
#include <cstdint>

namespace thimble::fuzz {

/// Returns a number below `limit`; 0 if the limit is 0.
template <typename Random>
[[nodiscard]] size_t below(Random& random, size_t limit) {
  return limit == 0 ? 0 : static_cast<size_t>(random() % limit);
}

inline constexpr uint32_t kWordLimits[] = {
    0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x10000};

/// Returns one of the limits of integer types.
template <typename Random>
[[nodiscard]] uint32_t word_limit(Random& random) {
  return kWordLimits[below(random, sizeof kWordLimits / sizeof kWordLimits[0])];
}

/// Returns a number after one change: one of its lowest `bits` bits, a limit of an integer type, a
/// random value, or, twice as often, a small difference. The caller removes higher bits.
template <typename Random>
[[nodiscard]] uint32_t mutate_word(uint32_t value, size_t bits, Random& random) {
  switch (random() % 5) {
    case 0:
      return value ^ uint32_t { 1 } << below(random, bits);
    case 1:
      return word_limit(random);
    case 2:
      return static_cast<uint32_t>(random());
    default:
      return value + static_cast<uint32_t>(below(random, 17)) - 8;
  }
}

}  // namespace thimble::fuzz
