#include "quant/mixed.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

#include "quant/quality.h"
#include "quant/widths.h"

namespace thimble::quant {
namespace {

using ir::Op;

/// Operators are ranked by at least two samples, and by about this many output elements, so that
/// the order does not depend on single elements.
constexpr int64_t kRankingElements = 2048;
constexpr int64_t kRankingSamplesMax = 16;
/// Number of trials that demote single operators. Each runs all samples.
constexpr size_t kDemotionTrials = 8;

/// Returns the SQNR of the worst output that is not constant; infinite if no output has an error.
/// `reference` may have more samples than `got`.
double worst_decibels(RealOutputs reference, const RealOutputs& got) {
  double worst = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < got.size(); ++i) {
    reference[i].resize(got[i].size());
    const double db = output_decibels(reference[i], got[i]);
    if (!std::isnan(db)) worst = std::min(worst, db);
  }
  return worst;
}

/// Returns the index of the maximum in each row of an output.
std::vector<int64_t> largest(const std::vector<std::vector<double>>& samples, size_t row) {
  std::vector<int64_t> places;
  for (const std::vector<double>& values : samples) {
    for (size_t first = 0; first < values.size(); first += row) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
      const auto end = begin + static_cast<std::ptrdiff_t>(row);
      places.push_back(std::max_element(begin, end) - begin);
    }
  }
  return places;
}

double share(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  double equal = 0;
  for (size_t i = 0; i < a.size(); ++i) equal += a[i] == b[i] ? 1 : 0;
  return equal / static_cast<double>(a.size());
}

class Search {
 public:
  explicit Search(const GoalRequest& request)
      : r_(request),
        reference_(float_outputs(r_.graph, r_.samples, {r_.samples.count(), r_.threads})) {}

  /// Measures the metric of the goal.
  Result<double> value(const Variant& trial) const {
    const RealOutputs outputs =
        integer_outputs(trial.lowered.graph, r_.samples, {r_.samples.count(), r_.threads});
    if (r_.goal.metric == Metric::kSqnr) return worst_decibels(reference_, outputs);
    const size_t row = row_of_output();
    const std::vector<int64_t> got = largest(outputs[0], row);
    if (r_.goal.metric == Metric::kAgreement) return share(got, largest(reference_[0], row));
    if (got.size() != r_.goal.labels.size()) {
      return bad_input("--accuracy top1: {} labels for {} rows of the first output",
                       r_.goal.labels.size(), got.size());
    }
    return share(got, r_.goal.labels);
  }

  /// Returns the accuracy of the float model as text for metric kTop1; empty for other metrics.
  [[nodiscard]] std::string float_text() const {
    if (r_.goal.metric != Metric::kTop1) return "";
    const std::vector<int64_t> places = largest(reference_[0], row_of_output());
    return fmt::format(", float {:.4g}", share(places, r_.goal.labels));
  }

  [[nodiscard]] bool reached(double value) const { return value >= r_.goal.least; }

  /// Returns true if the goal is reached when these operators have 16 bits.
  Result<bool> reached_with(const std::vector<bool>& ops) const {
    THIMBLE_TRY(const Variant tried, r_.attempt(ops));
    THIMBLE_TRY(const double tried_value, value(tried));
    return reached(tried_value);
  }

  [[nodiscard]] size_t row_of_output() const {
    const ir::Shape& shape = r_.graph.type(r_.graph.outputs()[0]).shape;
    return shape.empty() ? 1 : static_cast<size_t>(shape.back());
  }

  Result<double> decibels_of(const std::vector<bool>& ops) const {
    THIMBLE_TRY(const Variant trial, r_.attempt(ops));
    const auto elements = static_cast<int64_t>(reference_[0][0].size());
    const int64_t samples =
        std::min(r_.samples.count(), std::clamp(kRankingElements / std::max<int64_t>(elements, 1),
                                                int64_t{2}, kRankingSamplesMax));
    return worst_decibels(reference_,
                          integer_outputs(trial.lowered.graph, r_.samples, {samples, r_.threads}));
  }

  /// Returns the operators that can have 16 bits and do not, ordered by decreasing loss.
  Result<std::vector<size_t>> ranked(const std::vector<bool>& ops, const Variant& trial) const {
    const std::vector<bool> all(ops.size(), true);
    std::vector<std::pair<double, size_t>> qualities;
    for (size_t i = 0; i < ops.size(); ++i) {
      const OpPlan& plan = trial.plan.ops[i];
      const bool made = plan.role == Role::kLower || plan.role == Role::kTable;
      const Op& op = r_.graph.ops()[i];
      if (ops[i] || !made || keeps_width(op.kind) || !has_wide_form(r_.graph, op, plan)) continue;
      std::vector<bool> others = all;
      others[i] = false;
      THIMBLE_TRY(const double quality, decibels_of(others));
      qualities.emplace_back(quality, i);
    }
    std::sort(qualities.begin(), qualities.end());
    std::vector<size_t> ranked;
    for (const auto& [quality, op] : qualities) ranked.push_back(op);
    return ranked;
  }

  const GoalRequest& r_;
  const RealOutputs reference_;
};

std::vector<bool> with(std::vector<bool> ops, const std::vector<size_t>& added, size_t count) {
  for (size_t i = 0; i < count; ++i) ops[added[i]] = true;
  return ops;
}

/// Returns a note for each operator that has 16 bits and was not selected for them.
std::vector<WidthNote> promoted_notes(const ir::Graph& graph, const Plan& plan,
                                      const std::vector<bool>& before) {
  std::vector<WidthNote> notes;
  for (size_t i = 0; i < before.size(); ++i) {
    const OpPlan& op = plan.ops[i];
    const bool made = op.role == Role::kLower || op.role == Role::kTable;
    if (before[i] || !made || !op.wide || keeps_width(graph.ops()[i].kind)) continue;
    notes.push_back({graph.value(op.result).name, graph.ops()[i].source,
                     "int16: required by the accuracy goal"});
  }
  return notes;
}

}  // namespace

std::string_view metric_name(Metric metric) {
  switch (metric) {
    case Metric::kSqnr:
      return "sqnr";
    case Metric::kTop1:
      return "top1";
    case Metric::kAgreement:
      return "agreement";
  }
  return "";
}

Result<GoalReport> reach_goal(const GoalRequest& request, std::vector<bool>& wide_ops,
                              Variant& trial) {
  const Search search(request);
  GoalReport report;
  report.metric = request.goal.metric;
  report.least = request.goal.least;
  THIMBLE_TRY(report.narrow, search.value(trial));
  report.reached = report.narrow;
  if (search.reached(report.narrow)) return report;

  THIMBLE_TRY(const Variant all,
              request.attempt(std::vector<bool>(request.graph.ops().size(), true)));
  THIMBLE_TRY(report.wide, search.value(all));
  if (!search.reached(report.wide)) {
    const std::vector<bool> every(request.graph.ops().size(), true);
    THIMBLE_TRY(Variant rounded, request.attempt(every));
    THIMBLE_TRY(report.rounded, request.round(rounded));
    if (report.rounded) {
      THIMBLE_TRY(report.reached, search.value(rounded));
    }
    if (!report.rounded || !search.reached(report.reached)) {
      const std::string text =
          report.rounded ? fmt::format(", with rounded weights {:.4g}", report.reached) : "";
      return unsupported(
          "--accuracy {}>={}: int8 reaches {:.4g}, int16 for every operator {:.4g}{}{}",
          metric_name(request.goal.metric), request.goal.least, report.narrow, report.wide, text,
          search.float_text());
    }
    report.promoted = promoted_notes(request.graph, rounded.plan, wide_ops);
    wide_ops = every;
    trial = std::move(rounded);
    return report;
  }
  THIMBLE_TRY(std::vector<size_t> ranked, search.ranked(wide_ops, trial));
  assert(!ranked.empty() && "16 bits everywhere reach the goal, so an operator can be promoted");
  size_t too_few = 0;
  size_t enough = ranked.size();
  while (enough - too_few > 1) {
    const size_t middle = (too_few + enough) / 2;
    THIMBLE_TRY(const bool reached, search.reached_with(with(wide_ops, ranked, middle)));
    (reached ? enough : too_few) = middle;
  }
  ranked.resize(enough);
  // The smallest losses first. The last operator is needed: the goal is not reached without it.
  const size_t trials = std::min(ranked.size() - 1, kDemotionTrials);
  const size_t last = ranked.size() - 1;
  for (size_t trial = 1; trial <= trials; ++trial) {
    std::vector<size_t> fewer = ranked;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(last - trial));
    THIMBLE_TRY(const bool reached, search.reached_with(with(wide_ops, fewer, fewer.size())));
    if (reached) ranked = std::move(fewer);
  }
  std::sort(ranked.begin(), ranked.end());
  wide_ops = with(wide_ops, ranked, ranked.size());
  THIMBLE_TRY(trial, request.attempt(wide_ops));
  THIMBLE_TRY(report.reached, search.value(trial));
  for (const size_t i : ranked) {
    const ir::ValueId result = trial.plan.ops[i].result;
    report.promoted.push_back({request.graph.value(result).name, request.graph.ops()[i].source,
                               "int16: required by the accuracy goal"});
  }
  return report;
}

}  // namespace thimble::quant
