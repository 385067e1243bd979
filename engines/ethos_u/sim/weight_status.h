// SPDX-License-Identifier: Apache-2.0
#pragma once
// Errors of a weight or scale stream.

#include <stddef.h>
#include <stdint.h>

namespace thimble::ethos_u::sim {

enum class WeightStatus : uint8_t {
  kOk,
  kTruncated,   // a stream ends before its last weight or record
  kBadSlice,    // an invalid slice header
  kBadValue,    // a weight of more than nine bits
  kBadPadding,  // a nonzero weight at a padding position
  kNotSparse,   // sparse operation: more than two nonzero of four weights, or a weight beyond +-127
  kTrailing,    // weights are left after the last block
  kBadOperation,  // registers for which this configuration has no weight order
  kCapacity,      // the caller's array is too small
};

/// Returns a fixed sentence.
[[nodiscard]] const char* to_text(WeightStatus status);

struct Bytes {
  const uint8_t* data = nullptr;
  uint64_t size = 0;
};

}  // namespace thimble::ethos_u::sim
