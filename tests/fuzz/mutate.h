#pragma once
// Damages bytes at random, as a fuzzer does.

#include <random>

#include "base/bytes.h"

namespace thimble::fuzz {

/// Returns `bytes` after one to four changes: bits, bytes or words with limits of integer types,
/// parts that are removed, repeated or copied from `other`.
[[nodiscard]] Bytes mutate(Bytes bytes, const Bytes& other, std::mt19937_64& random);

}  // namespace thimble::fuzz
