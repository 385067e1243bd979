#pragma once
// A real multiplier as the AXON has it: mult * 2^-shift, added to zero point * 2^shift.

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
inline constexpr int64_t kMultOfSum = INT16_MAX;  // the two of an addition

/// The largest shift from 8 to 30 for which round(real * 2^shift) is at most `mult_max` and
/// zero_point * 2^shift is below 2^31. Nothing if real * 2^8 is beyond it.
[[nodiscard]] std::optional<Scale> scale_for(double real, int64_t zero_point,
                                             int64_t mult_max = kMultMax);
/// One shift for two multipliers.
struct SumScale {
  int32_t a = 0, b = 0;
  int shift = 0;
};
[[nodiscard]] std::optional<SumScale> sum_scale_for(double a, double b, int64_t zero_point);

/// What (mult, shift) of docs/numerics.md, "Requantization", stand for.
[[nodiscard]] double real_of(int64_t mult, int64_t shift);

/// Not supported if rounding the multiplier moves a result by more than half a code. `reach`: the
/// largest accumulator; `codes`: how many codes the result has.
[[nodiscard]] Status check_precision(double real, const Scale& scale, double reach, double codes);

/// The vendor's form of a scale of inputs and outputs: mult * 2^-shift, without a zero point.
[[nodiscard]] Scale scale_of_edge(double real);

}  // namespace thimble::engine::axon
