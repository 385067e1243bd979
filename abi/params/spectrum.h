// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parameters and scratch of spectra.

#include <cstddef>
#include <cstdint>

namespace thimble::abi {

/// The sum of a band is at least int_floor << floor_shift; int_eps << eps_shift is then added to
/// it.
struct LogMelParams {
  int32_t hop, int_floor, floor_shift, int_eps, eps_shift;
  int32_t offset;  // added to the logarithm
  int32_t y_zp, mult, shift, min, max;
  int32_t wide;  // y is int16
};
static_assert(sizeof(LogMelParams) == 48 && offsetof(LogMelParams, y_zp) == 24);

/// Scratch of log_mel, 4-byte aligned: 8 bytes for each of the n / 2 + 1 bins.
constexpr int64_t spectrum_scratch_bytes(int64_t n) {
  return 8 * (n / 2 + 1);
}

/// Scratch of power_spectrum.f32, 8-byte aligned: complex numbers in double. n / 2 of them are
/// transformed if n is even, else n; then come as many twiddle factors, and the elements of the
/// largest odd transform.
constexpr int64_t float_spectrum_scratch_bytes(int64_t n) {
  const int64_t count = n % 2 == 0 ? n / 2 : n;
  int64_t odd = count;
  while (odd % 2 == 0) odd /= 2;
  return 16 * (2 * count + odd);
}

}  // namespace thimble::abi
