#pragma once

#include <cstdint>

namespace thimble::runtime {

// Unsigned 8, signed 8, 16, 32, 64, -, float, -, -, -, -, bool.
inline constexpr uint8_t kElementBytes[] = {1, 1, 2, 4, 8, 0, 4, 0, 0, 0, 0, 1};

/// How many bytes an element of an ET scalar type has; 0 for those that no kernel takes.
inline uint32_t element_bytes(uint32_t scalar_type) {
  return scalar_type < sizeof kElementBytes ? kElementBytes[scalar_type] : 0;
}

/// Of one that element_bytes() has been asked about.
inline uint32_t known_element_bytes(uint32_t scalar_type) {
  return kElementBytes[scalar_type];
}

}  // namespace thimble::runtime
