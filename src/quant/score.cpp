// SPDX-License-Identifier: Apache-2.0
#include "quant/score.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace thimble::quant {

double Score::mean_db() const {
  return std::accumulate(db.begin(), db.end(), 0.0) / static_cast<double>(db.size());
}
double Score::noise_sum() const {
  return std::accumulate(noise.begin(), noise.end(), 0.0);
}

Score score_of(const RealOutputs& reference, const RealOutputs& got) {
  constexpr double kMost = 199;  // of an output without an error
  Score score;
  score.noise.resize(reference.empty() ? 0 : reference[0].size(), 0);
  for (size_t i = 0; i < reference.size(); ++i) {
    const double db = output_decibels(reference[i], got[i]);
    score.db.push_back(std::isnan(db) ? 0 : std::min(db, kMost));
    double squares = 0;
    for (const auto& sample : reference[i]) {
      for (const double x : sample) squares += is_masked_output(x) ? 0 : x * x;
    }
    for (size_t s = 0; s < reference[i].size() && squares > 0; ++s) {
      for (size_t k = 0; k < reference[i][s].size(); ++k) {
        score.noise[s] += square_of_error(reference[i][s][k], got[i][s][k]) / squares;
      }
    }
  }
  return score;
}

bool is_accepted(const Score& before, const Score& after) {
  constexpr double kMeanLossMax = 0.5, kLossMax = 1, kShareMin = 0.3;
  for (size_t i = 0; i < before.db.size(); ++i) {
    if (after.db[i] < before.db[i] - kLossMax) return false;
  }
  double better = 0;
  for (size_t s = 0; s < before.noise.size(); ++s) {
    if (after.noise[s] < before.noise[s]) better += 1;
  }
  return better >= kShareMin * static_cast<double>(before.noise.size()) &&
         after.mean_db() >= before.mean_db() - kMeanLossMax;
}

}  // namespace thimble::quant
