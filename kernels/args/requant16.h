// SPDX-License-Identifier: Apache-2.0
#pragma once
// Helpers that all kernels with 16-bit activations share.

#include <cstdint>

#include "kernels/args/operands.h"
#include "numerics/int16.h"

namespace thimble::kernels {

inline const int16_t* codes16(const Tensor& t) {
  return static_cast<const int16_t*>(t.data);
}
inline int16_t* mutable_codes16(const Tensor& t) {
  return static_cast<int16_t*>(t.data);
}

inline bool are_bounds16(int32_t min, int32_t max) {
  return min >= INT16_MIN && max <= INT16_MAX && min <= max;
}
/// Returns true if requantize64() accepts the scale.
inline bool is_scale16(int32_t mult, int32_t shift) {
  return mult >= 0 && shift >= numerics::kShiftMin && shift <= numerics::kRequantize64ShiftMax;
}

/// Requantization of a 64-bit sum per output channel. The constants are those of the operator: bias
/// is int64[channels] or absent; mult and shift are int32, one entry or one per channel. In names,
/// `narrow` is a sum that fits 32 bits; activations and results always have 16 bits here.
struct Requant16 {
  const int64_t* bias = nullptr;
  const int32_t* mult = nullptr;
  const int32_t* shift = nullptr;
  int32_t mult_step = 0, shift_step = 0;
  int32_t min = 0, max = 0;

  /// Returns true if the sum of `terms` products and a bias has 32 bits, for every channel.
  bool is_narrow(int32_t channels, int64_t terms) const {
    const int64_t most = INT32_MAX - terms * 32768 * 128;
    for (int32_t i = 0; bias != nullptr && i < channels; ++i) {
      if (bias[i] > most || bias[i] < -most) return false;
    }
    return most >= 0;
  }
  int32_t narrow_start(int32_t channel) const { return static_cast<int32_t>(start(channel)); }
  int64_t start(int32_t channel) const { return bias == nullptr ? 0 : bias[channel]; }
  /// Returns the result of a sum that includes the bias.
  int16_t finish(int64_t sum, int32_t channel) const {
    const auto low = static_cast<int32_t>(sum);
    if (low == sum) return finish_narrow(low, channel);
    return clamped(
        numerics::requantize64(sum, mult[channel * mult_step], shift[channel * shift_step]));
  }
  int16_t finish_narrow(int32_t sum, int32_t channel) const {
    return clamped(
        numerics::requantize64_narrow(sum, mult[channel * mult_step], shift[channel * shift_step]));
  }
  /// Limits a code to the range of the operator.
  int16_t clamped(int32_t code) const {
    return static_cast<int16_t>(numerics::clamp(code, min, max));
  }
};

/// Checks the three constants for `channels` outputs with `terms` products each.
Status check_requant16(const Tensor& bias, const Tensor& mult, const Tensor& shift,
                       int32_t channels, int64_t terms);
Requant16 bind_wide_requant(const Tensor& bias, const Tensor& mult, const Tensor& shift,
                            int32_t min, int32_t max);

}  // namespace thimble::kernels
