// SPDX-License-Identifier: Apache-2.0
#pragma once
// Weights of 4 bits with a factor for each 32 weights of an output channel (attribute
// weight_group).
//
// A weight is scale * factor * code with a code in [-8, 7] and an integer factor from 1 to 15. The
// product of factor and code is a weight of 8 bits, so accumulators, kernels with 8 bits and the
// reference evaluator need no other formula. If the magnitudes of groups differ by a factor of up
// to 3, such factors lose less than 0.3 dB compared with a float scale per group
// (quant_rounding_test).

#include <cstdint>
#include <span>
#include <vector>

namespace thimble::quant {

struct GroupScales {
  double scale = 1;              // of the channel
  std::vector<uint8_t> factors;  // one per group
};

/// Returns the scale, at least `scale_min`, and the factors with the least squared error of the
/// weights of one channel. `w` has a weight that is not 0.
[[nodiscard]] GroupScales group_scales(std::span<const float> w, double scale_min);

/// Returns the product of factor and nearest code.
[[nodiscard]] int8_t grouped_code(float weight, double scale, int32_t factor);

/// Returns an upper bound of the sum of the magnitudes of rounded weights: of the nearest ones and
/// of those of adapt_rounding().
[[nodiscard]] double grouped_magnitude(std::span<const float> w, const GroupScales& scales);

}  // namespace thimble::quant
