#pragma once
// From what calibration saw to scale and zero point.

#include <cstdint>

#include "ir/type.h"
#include "quant/histogram.h"
#include "quant/quantize.h"

namespace thimble::quant {

/// real = scale * (code - zero_point). The scale is a float32 number.
struct Params {
  double scale = 1;
  int32_t zero_point = 0;
  int32_t min = -128, max = 127;  // codes in use

  bool operator==(const Params&) const = default;
  [[nodiscard]] ir::Quant quant() const { return ir::per_tensor(scale, zero_point); }
  [[nodiscard]] double real(int64_t code) const {
    return scale * static_cast<double>(code - zero_point);
  }
  /// Nearest code, halves to even, in [min, max]; infinities too. NaN counts as 0.
  [[nodiscard]] int32_t code(double real) const;
  /// The same in float32, as PyTorch and the edges of a graph compute them.
  [[nodiscard]] float real_single(int64_t code) const;
  [[nodiscard]] int32_t code_single(float real) const;
  /// Does every code of these parameters mean the same with the others?
  [[nodiscard]] bool fits(const Params& other) const {
    return scale == other.scale && zero_point == other.zero_point && min >= other.min &&
           max <= other.max;
  }
};

struct Range {
  double low = 0, high = 0;  // low <= 0 <= high
};

[[nodiscard]] Range choose_range(const Histogram& histogram, Observer observer);
/// 256 codes over the range; scale 1 for an empty one.
[[nodiscard]] Params params_for(const Range& range);
/// The same range or more, with a scale of at least `scale`.
[[nodiscard]] Params with_scale_at_least(const Params& params, double scale);

}  // namespace thimble::quant
