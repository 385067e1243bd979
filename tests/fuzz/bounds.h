// SPDX-License-Identifier: Apache-2.0
#pragma once
// Limits of the memory and time that an input of unknown origin may need (docs/faults.md).

#include <cstddef>

namespace thimble::fuzz {

inline constexpr size_t kBytesMax = size_t{16} << 20;  // of memory
inline constexpr size_t kBytesMaxPerByte = 64;         // in addition, for each byte of the input
inline constexpr int kSecondsMax = 1;                  // of processor time

}  // namespace thimble::fuzz
