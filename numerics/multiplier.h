// SPDX-License-Identifier: Apache-2.0
#pragma once
// Converts a real multiplier to (mult, shift); see docs/numerics.md, "Requantization". The function
// is constexpr, but only the host calls it, because it computes in double.

#include <cstdint>

namespace thimble::numerics {

/// The factor mult * 2^(shift - 31).
struct Multiplier {
  int32_t mult = 0;   // 0, or in [2^30, 2^31)
  int32_t shift = 0;  // positive = left
  constexpr bool operator==(const Multiplier& o) const {
    return mult == o.mult && shift == o.shift;
  }
};

/// Returns (mult, shift) for a finite real >= 0. Values below 2^-32 give (0, 0). Above 2^30 the
/// shift exceeds kShiftMax, which callers must reject.
constexpr Multiplier quantize_multiplier(double real) {
  if (!(real > 0)) return {};
  int32_t exponent = 0;
  while (real >= 1.0) {
    real /= 2;
    ++exponent;
  }
  while (real < 0.5) {
    real *= 2;
    --exponent;
  }
  // real * 2^31 is at least 2^30, so adding 0.5 and truncating rounds half away from zero exactly.
  int64_t mult = static_cast<int64_t>(real * 2147483648.0 + 0.5);
  if (mult == int64_t{1} << 31) {
    mult /= 2;
    ++exponent;
  }
  if (exponent < -31) return {};
  return {static_cast<int32_t>(mult), exponent};
}

}  // namespace thimble::numerics
