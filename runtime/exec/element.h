#pragma once

#include <cstdint>

namespace thimble::runtime {

// Index: ExecuTorch scalar type: uint8, int8, int16, int32, int64, (5), float32, (7 to 10), bool.
// 0: no kernel supports the type (float16, float64, complex).
inline constexpr uint8_t kElementBytes[] = {1, 1, 2, 4, 8, 0, 4, 0, 0, 0, 0, 1};

/// Size in bytes of an element of an ExecuTorch scalar type; 0 for types that no kernel supports.
inline uint32_t element_bytes(uint32_t scalar_type) {
  return scalar_type < sizeof kElementBytes ? kElementBytes[scalar_type] : 0;
}

/// Same as element_bytes(), for a type that has been checked.
inline uint32_t known_element_bytes(uint32_t scalar_type) {
  return kElementBytes[scalar_type];
}

}  // namespace thimble::runtime
