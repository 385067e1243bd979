// SPDX-License-Identifier: Apache-2.0
#pragma once
// Chooses scale and zero point from calibration statistics.

#include <cstdint>
#include <limits>

#include "ir/type.h"
#include "quant/histogram.h"
#include "quant/quantize.h"

namespace thimble::quant {

/// An element at most this large masks a position if it reaches a softmax (docs/quantization.md,
/// "Masked values").
inline constexpr double kMaskedMax = -5000;
/// Same for an element that only has an order: large numbers that are no masks have one, too.
inline constexpr double kOrderedMaskedMax = -1e8;

/// real = scale * (code - zero_point). The scale is exact in float32. With `masked`, the quantized
/// value -128 represents masked elements (-inf).
struct Params {
  double scale = 1;
  int32_t zero_point = 0;
  bool masked = false;
  int32_t min = -128, max = 127;  // range of quantized values in use
  bool wide = false;              // 16 bits; then the zero point is 0

  bool operator==(const Params&) const = default;
  [[nodiscard]] ir::Quant quant() const { return ir::per_tensor(scale, zero_point); }
  [[nodiscard]] double real(int64_t code) const {
    if (masked && code == -128) return -std::numeric_limits<double>::infinity();
    return scale * static_cast<double>(code - zero_point);
  }
  /// Returns the smallest quantized value that represents a number.
  [[nodiscard]] int32_t lowest() const { return masked ? -127 : min; }
  /// Returns the nearest quantized value, halves to even, clamped to [min, max]. NaN counts as 0.
  [[nodiscard]] int32_t code(double real) const;
  /// Same in float32, as PyTorch and the quantize and dequantize operators compute.
  [[nodiscard]] float real_f32(int64_t code) const;
  [[nodiscard]] int32_t code_f32(float real) const;
  /// Returns true if every quantized value represents the same number with `other`.
  [[nodiscard]] bool fits(const Params& other) const {
    return scale == other.scale && zero_point == other.zero_point && masked == other.masked &&
           wide == other.wide && min >= other.min && max <= other.max;
  }
};

struct Range {
  double low = 0, high = 0;  // low <= 0 <= high
};

/// With `whole`, ignores that readers do not distinguish some elements (Histogram::restrict).
[[nodiscard]] Range choose_range(const Histogram& histogram, Observer wanted, bool whole = false);
/// Returns int8 parameters that represent both ends of the range. 256 quantized values span the
/// range, or 255 if one is reserved for masked elements. The scale is 1 for an empty range.
[[nodiscard]] Params params_for(const Range& range, bool masked = false);
/// Returns parameters with values -127 to 127 and zero point 0. The scale is 1 for an empty range.
[[nodiscard]] Params symmetric_params_for(const Range& range);
/// Returns 16-bit parameters with this scale.
[[nodiscard]] Params wide_params(double scale);
/// Returns 16-bit parameters for twice the larger magnitude of the range. The scale is 1 for an
/// empty range.
[[nodiscard]] Params wide_params_for(const Range& range);
/// int16 parameters of samples: a power of two, at least that of 16-bit audio as numbers from -1 to
/// 1, whose samples are then exact. +1 itself saturates.
[[nodiscard]] Params sample_params_for(const Range& range);
/// Returns 16-bit parameters with 1/128 of the scale of the int8 parameters.
[[nodiscard]] Params widened(const Params& narrow);
/// Returns `own` or `narrow`, whichever has the requested width. If both are int8 and `wide` is
/// true, returns widened(own).
[[nodiscard]] Params read(const Params& own, const Params& narrow, bool wide);
/// Returns int8 parameters for the full range of the 16-bit parameters.
[[nodiscard]] Params narrowed(const Params& wide);
/// Returns parameters with a scale of at least `scale` that include the range of `params`.
[[nodiscard]] Params with_scale_at_least(const Params& params, double scale);

}  // namespace thimble::quant
