// SPDX-License-Identifier: Apache-2.0
#pragma once
// Mutations of bytes, as a fuzzer makes them.

#include <random>

#include "base/bytes.h"
#include "firmware/common/mutate_word.h"

namespace thimble::fuzz {

using Random = std::mt19937_64;

[[nodiscard]] inline Bytes copy_of(ByteView bytes) {
  return {bytes.begin(), bytes.end()};
}

/// Returns `bytes` after one to four changes: bits, bytes or words with limits of integer types,
/// parts that are removed, repeated or copied from `other`.
[[nodiscard]] Bytes mutate(Bytes bytes, const Bytes& other, Random& random);

}  // namespace thimble::fuzz
