#pragma once
// What can be wrong with a weight or scale stream.

#include <stddef.h>
#include <stdint.h>

namespace thimble::ethos_u::sim {

enum class WeightStatus : uint8_t {
  kOk,
  kTruncated,     // a stream ends before its last weight or record
  kBadSlice,      // a slice header that means nothing
  kBadValue,      // a weight of more than nine bits
  kBadPadding,    // a weight that is not zero where the operation has none
  kNotSparse,     // more than two of four weights in a row, or a large one, of a sparse operation
  kTrailing,      // weights are left after the last block
  kBadOperation,  // registers that describe no weights that this configuration can read
  kCapacity,      // the caller's array is too small
};

/// One fixed sentence.
[[nodiscard]] const char* to_text(WeightStatus status);

struct Bytes {
  const uint8_t* data = nullptr;
  uint64_t size = 0;
};

}  // namespace thimble::ethos_u::sim
