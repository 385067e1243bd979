// SPDX-License-Identifier: Apache-2.0
#pragma once
// A real multiplier in the AXON's encoding: mult * 2^-shift. The zero point is added as
// zero point * 2^shift before the shift.

#include <cstdint>
#include <optional>

#include "base/result.h"

namespace thimble::engine::axon {

struct Scale {
  int32_t mult = 0;
  int shift = 0;
};

inline constexpr int kShiftMin = 8, kShiftMax = 30;
inline constexpr int64_t kMultMax = INT32_MAX;
inline constexpr int64_t kMultOfSum = INT16_MAX;  // bound of both multipliers of an addition

/// Returns the largest shift from 8 to 30 for which round(real * 2^shift) is at most `mult_max` and
/// zero_point * 2^shift is below 2^31. Returns nothing if real * 2^8 already exceeds `mult_max`.
[[nodiscard]] std::optional<Scale> scale_for(double real, int64_t zero_point,
                                             int64_t mult_max = kMultMax);
/// Two multipliers with a common shift.
struct SumScale {
  int32_t a = 0, b = 0;
  int shift = 0;
};
[[nodiscard]] std::optional<SumScale> sum_scale_for(double a, double b, int64_t zero_point);

/// Returns the real value of (mult, shift) as defined in docs/numerics.md, "Requantization".
[[nodiscard]] double real_of(int64_t mult, int64_t shift);

/// Returns an unsupported error if rounding the multiplier changes a result by more than half a
/// quantization step. `codes`: number of steps of the result's range.
[[nodiscard]] Status check_precision(double real, const Scale& scale, double accumulator_max,
                                     double codes);

/// Returns the scale of a network input or output as mult * 2^-shift, as the vendor's tools do.
[[nodiscard]] Scale scale_of_edge(double real);

}  // namespace thimble::engine::axon
