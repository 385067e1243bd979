#pragma once
// Mutations of bytes, as a fuzzer makes them.

#include <random>

#include "base/bytes.h"

namespace thimble::fuzz {

using Random = std::mt19937_64;

/// Returns a number below `limit`; 0 if the limit is 0.
[[nodiscard]] inline size_t below(Random& random, size_t limit) {
  return limit == 0 ? 0 : static_cast<size_t>(random() % limit);
}

[[nodiscard]] inline Bytes copy_of(ByteView bytes) {
  return {bytes.begin(), bytes.end()};
}

/// Returns `bytes` after one to four changes: bits, bytes or words with limits of integer types,
/// parts that are removed, repeated or copied from `other`.
[[nodiscard]] Bytes mutate(Bytes bytes, const Bytes& other, Random& random);

/// Returns the word after one change: a bit, a small difference, a limit of an integer type, or a
/// random value.
[[nodiscard]] uint32_t mutate_word(uint32_t value, Random& random);

}  // namespace thimble::fuzz
