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
  int32_t min = -128, max = 127;  // codes in use
  bool wide = false;              // 16 bits; then the zero point is 0

  bool operator==(const Params&) const = default;
  [[nodiscard]] ir::Quant quant() const { return ir::per_tensor(scale, zero_point); }
  [[nodiscard]] double real(int64_t code) const {
    if (masked && code == -128) return -std::numeric_limits<double>::infinity();
    return scale * static_cast<double>(code - zero_point);
  }
  /// The lowest code that is a number.
  [[nodiscard]] int32_t lowest() const { return masked ? -127 : min; }
  /// Nearest code, halves to even, in [min, max]; infinities too. NaN counts as 0.
  [[nodiscard]] int32_t code(double real) const;
  /// The same in float32, as PyTorch and the edges of a graph compute them.
  [[nodiscard]] float real_single(int64_t code) const;
  [[nodiscard]] int32_t code_single(float real) const;
  /// Does every code of these parameters mean the same with the others?
  [[nodiscard]] bool fits(const Params& other) const {
    return scale == other.scale && zero_point == other.zero_point && masked == other.masked &&
           wide == other.wide && min >= other.min && max <= other.max;
  }
};

struct Range {
  double low = 0, high = 0;  // low <= 0 <= high
};

[[nodiscard]] Range choose_range(const Histogram& histogram, Observer wanted);
/// Both ends of the range have codes: 256 codes over the range, or 255 if one is left for masked
/// elements; scale 1 for an empty one.
[[nodiscard]] Params params_for(const Range& range, bool masked = false);
/// The codes -127 to 127, with the zero point 0; scale 1 for an empty range.
[[nodiscard]] Params symmetric_params_for(const Range& range);
/// 16 bits of this scale.
[[nodiscard]] Params wide_params(double scale);
/// 16 bits, twice as far to either side of 0 as the range reaches; scale 1 for an empty one.
[[nodiscard]] Params wide_params_for(const Range& range);
/// 16 bits in which every code of int8 parameters is 128 codes.
[[nodiscard]] Params widened(const Params& narrow);
/// The one of two versions that has this width; the first widened if none has.
[[nodiscard]] Params read(const Params& own, const Params& narrow, bool wide);
/// int8 over all that the codes reach.
[[nodiscard]] Params narrowed(const Params& wide);
/// The same range or more, with a scale of at least `scale`.
[[nodiscard]] Params with_scale_at_least(const Params& params, double scale);

}  // namespace thimble::quant
