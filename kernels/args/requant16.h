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
/// is int64[channels] or absent; mult and shift are int32, one entry or one per channel.
struct Requant16 {
  const int64_t* bias = nullptr;
  const int32_t* mult = nullptr;
  const int32_t* shift = nullptr;
  int32_t mult_step = 0, shift_step = 0;
  int32_t min = 0, max = 0;

  int64_t start(int32_t channel) const { return bias == nullptr ? 0 : bias[channel]; }
  int16_t finish(int64_t sum, int32_t channel) const {
    const int32_t scaled =
        numerics::requantize64(sum, mult[channel * mult_step], shift[channel * shift_step]);
    return static_cast<int16_t>(numerics::clamp(scaled, min, max));
  }
};

/// Checks the three constants for `channels` outputs with `terms` products each.
Status check_requant16(const Tensor& bias, const Tensor& mult, const Tensor& shift,
                       int32_t channels, int64_t terms);
Requant16 bind_wide_requant(const Tensor& bias, const Tensor& mult, const Tensor& shift,
                            int32_t min, int32_t max);

/// Returns the sum of x * w. Pieces of the row are summed in 32 bits without overflow.
inline int64_t dot16(const int16_t* x, const int8_t* w, int32_t length) {
  constexpr int32_t kPiece = 256;  // 256 * 2^15 * 2^7 = 2^30
  int64_t total = 0;
  while (length > 0) {
    const int32_t piece = length < kPiece ? length : kPiece;
    int32_t sum = 0;
    for (int32_t i = 0; i < piece; ++i) sum += x[i] * w[i];
    total += sum;
    x += piece;
    w += piece;
    length -= piece;
  }
  return total;
}

}  // namespace thimble::kernels
