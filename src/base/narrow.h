// SPDX-License-Identifier: Apache-2.0
#pragma once
// Narrowing casts for fields of binary formats. The caller ensures that the value fits.

#include <cstdint>

namespace thimble {

template <typename T>
constexpr uint8_t u8(T value) {
  return static_cast<uint8_t>(value);
}
template <typename T>
constexpr uint16_t u16(T value) {
  return static_cast<uint16_t>(value);
}
template <typename T>
constexpr uint32_t u32(T value) {
  return static_cast<uint32_t>(value);
}

}  // namespace thimble
