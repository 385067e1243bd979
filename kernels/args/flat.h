// SPDX-License-Identifier: Apache-2.0
#pragma once
// Contiguous int8 data, accessed as bytes and as words of four.

#include <string.h>
#include <cstdint>

namespace thimble::kernels {

/// Returns true if address and size are multiples of 4.
inline bool is_word_aligned(const void* data, uint32_t bytes) {
  return ((reinterpret_cast<uintptr_t>(data) | bytes) & 3) == 0;
}

/// Loads four bytes from a multiple of 4: one instruction, also on cores without unaligned access.
inline uint32_t load_word(const void* data) {
  uint32_t word;
  memcpy(&word, __builtin_assume_aligned(data, 4), sizeof word);
  return word;
}
inline void store_word(void* data, uint32_t word) {
  memcpy(__builtin_assume_aligned(data, 4), &word, sizeof word);
}

}  // namespace thimble::kernels
