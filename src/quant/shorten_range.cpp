#include "quant/shorten_range.h"

#include <algorithm>
#include <set>

#include "quant/reader_range.h"

namespace thimble::quant {
namespace {

/// Returns true for [N, C, H, W] with several positions.
bool is_image(const ir::Shape& shape) {
  return shape.size() == 4 && shape[2] * shape[3] > 1;
}

}  // namespace

std::vector<ir::ValueId> shortenable(const ir::Graph& graph, const Plan& plan,
                                     const std::vector<ir::ValueId>& observed) {
  constexpr int64_t kElementsMin = 1024;  // of one sample
  std::set<ir::ValueId> kept;
  for (const ir::ValueId id : graph.inputs()) kept.insert(id);
  for (const ir::ValueId id : graph.results()) kept.insert(id);
  for (const ir::State& state : graph.states()) kept.insert(state.value);
  for (const ir::ValueId id : read_by_tables(graph, plan)) kept.insert(id);  // reader_range.h
  std::vector<ir::ValueId> result;
  for (const ir::ValueId id : observed) {
    const ir::Type& type = graph.type(id);
    const bool large = is_image(type.shape) && type.elements() >= kElementsMin;
    if (large && !kept.contains(id)) result.push_back(id);
  }
  return result;
}

Range shorter_range(const Histogram& histogram) {
  constexpr double kClippingWeight = 4;
  constexpr int kPercentMin = 40, kStep = 2, kRounds = 2;
  const Range whole = choose_range(histogram, Observer::kExtrapolate);
  if (histogram.counts().empty() || histogram.masked()) return whole;
  const bool may_low = whole.low < 0 && histogram.likely_min() >= histogram.min();
  const bool may_high = whole.high > 0 && histogram.likely_max() <= histogram.max();
  if (!may_low && !may_high) return whole;
  const RangeError error(histogram, kClippingWeight);
  Range best = whole;
  double best_error = error(best);
  const auto attempt = [&](const Range& range) {
    const double tried = error(range);
    if (tried < best_error) {
      best_error = tried;
      best = range;
    }
  };
  const auto share = [](double end, int percent) { return end * percent / 100; };
  // Both sides together first, then each side with the other one at its best end.
  for (int percent = 100 - kStep; percent >= kPercentMin; percent -= kStep) {
    attempt({may_low ? share(whole.low, percent) : whole.low,
             may_high ? share(whole.high, percent) : whole.high});
  }
  for (int round = 0; round < kRounds && may_low && may_high; ++round) {
    for (int percent = 100; percent >= kPercentMin; percent -= kStep) {
      attempt({share(whole.low, percent), best.high});
    }
    for (int percent = 100; percent >= kPercentMin; percent -= kStep) {
      attempt({best.low, share(whole.high, percent)});
    }
  }
  return best;
}

void shorten_ranges(const std::vector<ir::ValueId>& values, std::vector<Histogram>& histograms) {
  for (const ir::ValueId id : values) {
    Histogram& histogram = histograms[ir::index_of(id)];
    if (histogram.elements() == 0) continue;
    const Range range = shorter_range(histogram);
    histogram.restrict(range.low, range.high);
  }
}

}  // namespace thimble::quant
