// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds buffers whose bytes are a part of another buffer, such as a table that is also the weights
// inside the packed constant of a kernel: the file stores those bytes once.

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "base/bytes.h"

namespace thimble::formats::pte {

struct PartOf {
  size_t whole = 0;     // index of a buffer that is no part of another one
  uint64_t offset = 0;  // in it, a multiple of the alignment
};

/// Returns the buffers that are smaller than `whole` and equal to its bytes at `offset`, by index.
/// Smaller buffers than kPartBytesMin are not searched.
[[nodiscard]] std::map<size_t, PartOf> find_parts(const std::vector<Bytes>& buffers,
                                                  uint32_t alignment);
inline constexpr size_t kPartBytesMin = 128;

}  // namespace thimble::formats::pte
