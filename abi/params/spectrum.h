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

}  // namespace thimble::abi
