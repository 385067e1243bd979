// SPDX-License-Identifier: Apache-2.0
#include "quant/group_weights.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/rounding.h"
#include "ir/weight_bits.h"
#include "quant/weights.h"

namespace thimble::quant {
namespace {

constexpr auto kGroup = static_cast<size_t>(ir::kWeightGroup);

std::span<const float> group_of(std::span<const float> w, size_t group) {
  return w.subspan(group * kGroup, std::min(kGroup, w.size() - group * kGroup));
}

double squared_error(std::span<const float> w, double scale, int32_t factor) {
  double error = 0;
  for (const float weight : w) {
    const double difference = grouped_code(weight, scale, factor) * scale - double{weight};
    error += difference * difference;
  }
  return error;
}

/// Returns the best scale of one group. Weights that were rounded to codes down to -8, such as
/// those of torchao, keep their scale.
double ideal_scale(std::span<const float> w) {
  const double symmetric = int4_weight_scale(w, 0);
  double largest = 0;
  for (const float weight : w) largest = std::max(largest, std::abs(double{weight}));
  const double scale_to_minus_8 = largest / 8;
  if (largest == 0) return symmetric;
  return squared_error(w, scale_to_minus_8, 1) < squared_error(w, symmetric, 1) ? scale_to_minus_8
                                                                                : symmetric;
}

/// Returns the best factor, one of the neighbors of `ideal_factor`, and adds its error to
/// `error_sum`.
uint8_t best_factor(std::span<const float> w, double scale, double ideal_factor,
                    double* error_sum) {
  double best_error = std::numeric_limits<double>::infinity();
  uint8_t best = 1;
  for (int step = -1; step <= 2; ++step) {
    const double factor = std::floor(ideal_factor) + step;
    if (factor < 1 || factor > ir::kGroupFactorMax) continue;
    const auto candidate = static_cast<uint8_t>(factor);
    const double error = squared_error(w, scale, candidate);
    if (error >= best_error) continue;
    best_error = error;
    best = candidate;
  }
  *error_sum += best_error;
  return best;
}

}  // namespace

int8_t grouped_code(float weight, double scale, int32_t factor) {
  const CodeRange range = code_range(4);
  const double code = std::nearbyint(double{weight} / (scale * factor));
  return static_cast<int8_t>(factor * static_cast<int32_t>(std::clamp(code, range.min, range.max)));
}

GroupScales group_scales(std::span<const float> w, double scale_min) {
  constexpr int kTrials = 16;  // from the scale of the coarsest group / 15 down to 0.7 times it
  const auto groups = static_cast<size_t>(divide_up(std::ssize(w), ir::kWeightGroup));
  std::vector<double> ideal;
  for (size_t g = 0; g < groups; ++g) ideal.push_back(ideal_scale(group_of(w, g)));
  const double coarsest = *std::ranges::max_element(ideal) / ir::kGroupFactorMax;
  GroupScales best;
  double best_error = std::numeric_limits<double>::infinity();
  for (int trial = 0; trial < kTrials; ++trial) {
    GroupScales tried;
    const auto rounded = static_cast<float>(coarsest * (1 - 0.02 * trial));
    tried.scale = std::max(double{rounded}, scale_min);
    double error = 0;
    for (size_t g = 0; g < groups; ++g) {
      const double ideal_factor =
          std::clamp(ideal[g] / tried.scale, 1.0, double{ir::kGroupFactorMax});
      tried.factors.push_back(best_factor(group_of(w, g), tried.scale, ideal_factor, &error));
    }
    if (error < best_error) {
      best_error = error;
      best = std::move(tried);
    }
    if (double{rounded} <= scale_min) break;  // the others have the same scale
  }
  return best;
}

double grouped_magnitude(std::span<const float> w, const GroupScales& scales) {
  double sum = 0;
  for (size_t i = 0; i < w.size(); ++i) {
    const double factor = scales.factors[i / kGroup];
    const double product = std::abs(double{w[i]}) / scales.scale;  // of factor and code
    sum += std::min(code_range(4).largest() * factor, product + factor / 2);
  }
  return sum;
}

}  // namespace thimble::quant
