// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arithmetic of docs/numerics.md, written independently for the tests: exact integers, no shifts.

#include <cmath>
#include <cstdint>

namespace thimble::kernels::test {

inline int64_t floor_divide(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

inline int32_t wrapped(int64_t value) {
  return static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(value)));
}

/// "Requantization" of docs/numerics.md, with double rounding.
inline int64_t requantized(int64_t a, int32_t mult, int32_t shift) {
  const int64_t b = wrapped(shift > 0 ? a * (int64_t{1} << shift) : a);
  const int64_t c = floor_divide(b * mult + (int64_t{1} << 30), int64_t{1} << 31);
  const int64_t divisor = int64_t{1} << (shift < 0 ? -shift : 0);
  const int64_t magnitude = ((c < 0 ? -c : c) * 2 + divisor) / (2 * divisor);
  return c < 0 ? -magnitude : magnitude;
}

inline int8_t clamped(int64_t value, int64_t min, int64_t max) {
  return static_cast<int8_t>(value < min ? min : value > max ? max : value);
}

}  // namespace thimble::kernels::test
