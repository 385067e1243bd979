// SPDX-License-Identifier: Apache-2.0
#pragma once
// Scores of integer graphs on given samples, and the rule that accepts a step.

#include <vector>

#include "quant/quality.h"

namespace thimble::quant {

/// How close an integer graph is to the float graph on given samples.
struct Score {
  std::vector<double> db;     // SQNR by output; 0 for a constant one
  std::vector<double> noise;  // by sample: relative to the signal, summed over the outputs

  [[nodiscard]] double mean_db() const;
  [[nodiscard]] double noise_sum() const;
};
[[nodiscard]] Score score_of(const RealOutputs& reference, const RealOutputs& got);

/// Returns true unless the samples that were held back contradict a step that reduces the noise of
/// single operators. Few samples do not confirm a gain: their noise varies more than the gain.
[[nodiscard]] bool is_accepted(const Score& before, const Score& after);

}  // namespace thimble::quant
