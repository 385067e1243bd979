#pragma once
// From what calibration saw to scale and zero point.

#include <cstdint>
#include <limits>

#include "ir/type.h"
#include "quant/histogram.h"
#include "quant/quantize.h"

namespace thimble::quant {

/// An element of this or less, on the way to a softmax, hides a position ("Masked values" in
/// docs/quantization.md).
inline constexpr double kMaskedMax = -5000;

/// real = scale * (code - zero_point). The scale is a float32 number. With `masked`, code -128
/// stands for masked elements instead: -inf.
struct Params {
  double scale = 1;
  int32_t zero_point = 0;
  bool masked = false;

  bool operator==(const Params&) const = default;
  [[nodiscard]] ir::Quant quant() const { return ir::per_tensor(scale, zero_point); }
  [[nodiscard]] double real(int64_t code) const {
    if (masked && code == -128) return -std::numeric_limits<double>::infinity();
    return scale * static_cast<double>(code - zero_point);
  }
  /// The lowest code that is a number.
  [[nodiscard]] int32_t lowest() const { return masked ? -127 : -128; }
  /// Nearest code, halves to even, in [-128, 127]; infinities too. NaN counts as 0.
  [[nodiscard]] int32_t code(double real) const;
};

struct Range {
  double low = 0, high = 0;  // low <= 0 <= high
};

[[nodiscard]] Range choose_range(const Histogram& histogram, Observer observer);
/// 256 codes over the range, or 255 if one is left for masked elements; scale 1 for an empty one.
[[nodiscard]] Params params_for(const Range& range, bool masked = false);
/// The same range or more, with a scale of at least `scale`.
[[nodiscard]] Params with_scale_at_least(const Params& params, double scale);

}  // namespace thimble::quant
