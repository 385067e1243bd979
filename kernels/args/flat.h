#pragma once
// Runs of codes, as bytes and as words of four, for kernels that step through flat memory.

#include <cstdint>
#include <cstring>

namespace thimble::kernels {

/// Whether both are multiples of 4.
inline bool whole_words(const void* data, uint32_t bytes) {
  return ((reinterpret_cast<uintptr_t>(data) | bytes) & 3) == 0;
}

/// Four bytes at a multiple of 4: one instruction, also where the core reads no other words.
inline uint32_t load_word(const void* data) {
  uint32_t word;
  memcpy(&word, __builtin_assume_aligned(data, 4), sizeof word);
  return word;
}
inline void store_word(void* data, uint32_t word) {
  memcpy(__builtin_assume_aligned(data, 4), &word, sizeof word);
}

}  // namespace thimble::kernels
