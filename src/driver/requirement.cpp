// SPDX-License-Identifier: Apache-2.0
#include "driver/requirement.h"

#include <algorithm>
#include <cassert>
#include <iterator>

namespace thimble::driver {
namespace {

constexpr Metric kMetrics[] = {
    {"accuracy", Unit::kShare, Bound::kMinimum},       {"flash", Unit::kBytes, Bound::kMaximum},
    {"latency", Unit::kMicroseconds, Bound::kMaximum}, {"sqnr", Unit::kDecibels, Bound::kMinimum},
    {"sram", Unit::kBytes, Bound::kMaximum},
};
// In the order of kMetrics.
constexpr std::optional<double> Figures::*kFigures[] = {
    &Figures::accuracy, &Figures::flash_bytes, &Figures::latency_us,
    &Figures::sqnr_db,  &Figures::sram_bytes,
};
static_assert(std::size(kMetrics) == std::size(kFigures));

}  // namespace

Result<std::vector<Condition>> parse_requirements(std::string_view text) {
  return parse_conditions(text, {"--require", kMetrics, false});
}

std::optional<bool> is_met(const Condition& requirement, const Figures& figures) {
  const auto* const metric = std::ranges::find(kMetrics, requirement.name, &Metric::name);
  assert(metric != std::end(kMetrics));
  const std::optional<double>& figure = figures.*kFigures[metric - std::begin(kMetrics)];
  if (!figure) return std::nullopt;
  return is_true(requirement, *figure);
}

}  // namespace thimble::driver
