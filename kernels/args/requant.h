#pragma once
// From accumulator to code, per output channel: shared by convolutions and linear.
// docs/numerics.md, "Requantization" and "Convolution, linear".

#include <cstdint>

#include "abi/native_params.h"
#include "kernels/args/operands.h"

namespace thimble::kernels {

/// mult and shift come as int32 and int32 (stock), int32 and int8 (native), or one value for all
/// channels. Files and every supported machine are little-endian, so that a shift is always read as
/// the low byte of its entry.
struct Requant {
  const int32_t* bias = nullptr;  // null: none
  const int32_t* mult = nullptr;
  const int8_t* shift = nullptr;
  int32_t mult_step = 1;   // words; 0: one for all
  int32_t shift_step = 4;  // bytes; 0: one for all
  int32_t y_offset = 0, min = 0, max = 0;

  int32_t start(int32_t channel) const { return bias == nullptr ? 0 : bias[channel]; }
  int8_t finish(int32_t accumulator, int32_t channel) const {
    const int32_t scaled =
        numerics::requantize(accumulator, mult[channel * mult_step], shift[channel * shift_step]);
    return static_cast<int8_t>(numerics::clamp(numerics::wrap_add(scaled, y_offset), min, max));
  }
};

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

/// Multipliers, shifts (all of a word) and bounds in range for `channels` channels. A single shift
/// that is a word is its caller's to check.
Status check_requant(const Requant& requant, int32_t channels);

/// The stock form: two int32[channels] constants. Their values are check_requant()'s to check.
Status check_stock_scales(const Tensor& mult, const Tensor& shift, int32_t channels);
/// A bias that may be absent: int32, `channels` elements in all.
Status check_bias(const Tensor& bias, int32_t channels);
inline const int32_t* words(const Tensor& t) {
  return t.is_null ? nullptr : static_cast<const int32_t*>(t.data);
}

/// The native form: after a header of `header_bytes` come bias, mult, shift, weights. Sets the
/// first three and returns the weights. `scales` is 1 or `channels`.
const int8_t* bind_packed(const Tensor& params, uint32_t header_bytes, int32_t channels,
                          int32_t scales, Requant& requant);
/// Bytes of that constant; the counts are below 2^31.
int64_t packed_bytes(uint32_t header_bytes, int64_t channels, int64_t scales,
                     int64_t weights_bytes);
/// The constant holds exactly that, up to alignment padding at its end.
Status check_packed(const Tensor& params, int64_t bytes);

}  // namespace thimble::kernels
