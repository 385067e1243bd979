// SPDX-License-Identifier: Apache-2.0
#include "quant/mixed.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>

#include "quant/quality.h"
#include "quant/trial_runs.h"
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

double noise_of(double decibels) {
  return std::pow(10, -decibels / 10);
}

/// Loss of the samples that were measured until now, as a share of what the goal allows for all
/// samples together. It only increases: above 1, the goal cannot be reached.
class Losses {
 public:
  Losses(const RealOutputs& reference, const AccuracyGoal& goal, size_t row)
      : reference_(reference), goal_(goal), row_(row) {
    if (goal.metric != Metric::kSqnr) {
      wanted_ = goal.metric == Metric::kTop1 ? goal.labels : largest(reference[0], row);
      allowed_ = {(1 - goal.least) * static_cast<double>(wanted_.size())};
      return;
    }
    for (const auto& output : reference) {
      allowed_.push_back(output_signal(output) * noise_of(goal.least));
    }
  }

  /// Returns the loss of one sample by output.
  [[nodiscard]] std::vector<double> of_sample(size_t sample,
                                              const std::vector<std::vector<double>>& got) const {
    std::vector<double> losses;
    if (goal_.metric != Metric::kSqnr) {
      const std::vector<int64_t> places = largest({got[0]}, row_);
      double wrong = 0;
      for (size_t i = 0; i < places.size(); ++i) {
        const size_t at = sample * places.size() + i;
        wrong += at < wanted_.size() && places[i] != wanted_[at] ? 1 : 0;
      }
      return {wrong};
    }
    for (size_t i = 0; i < got.size(); ++i) {
      double noise = 0;
      for (size_t k = 0; k < got[i].size(); ++k) {
        const double error = reference_[i][sample][k] - got[i][k];
        noise += error * error;
      }
      losses.push_back(noise);
    }
    return losses;
  }

  /// Returns the largest share of what is allowed. An output without variation has no SQNR.
  [[nodiscard]] double share_of(const std::vector<double>& losses) const {
    double most = 0;
    for (size_t i = 0; i < losses.size(); ++i) {
      if (goal_.metric == Metric::kSqnr && !(allowed_[i] > 0)) continue;
      most = std::max(most, losses[i] / allowed_[i]);
    }
    return most;
  }

 private:
  const RealOutputs& reference_;
  const AccuracyGoal& goal_;
  size_t row_;
  std::vector<double> allowed_;  // by output
  std::vector<int64_t> wanted_;  // indices of maxima
};

/// An operator that can have 16 bits, and the SQNR if it alone has 8.
struct Ranked {
  size_t op = 0;
  double quality_db = 0;
};

class Search {
 public:
  Search(const GoalRequest& request, const RealOutputs& reference)
      : r_(request),
        reference_(reference),
        losses_(reference_, r_.goal, row_of_output()),
        order_(static_cast<size_t>(r_.samples.count())) {
    std::iota(order_.begin(), order_.end(), 0);
  }

  /// Returns an error if the number of labels does not match the outputs.
  [[nodiscard]] Status check_labels() const {
    if (r_.goal.metric != Metric::kTop1) return ok();
    const size_t rows = largest(reference_[0], row_of_output()).size();
    if (rows == r_.goal.labels.size()) return ok();
    return bad_input("--accuracy top1: {} labels for {} rows of the first output",
                     r_.goal.labels.size(), rows);
  }

  /// Runs all samples, and begins with the samples that lose most in later trials.
  RealOutputs measured(const Variant& trial) {
    RealOutputs outputs =
        integer_outputs(trial.lowered.graph, r_.samples, {r_.samples.count(), r_.threads});
    if (!r_.graph.states().empty()) return outputs;  // the samples are a time series
    std::vector<double> losses;
    for (size_t sample = 0; sample < order_.size(); ++sample) {
      std::vector<std::vector<double>> own;
      for (const auto& output : outputs) own.push_back(output[sample]);
      losses.push_back(losses_.share_of(losses_.of_sample(sample, own)));
    }
    std::iota(order_.begin(), order_.end(), 0);
    std::ranges::stable_sort(order_, std::ranges::greater(),
                             [&](int64_t sample) { return losses[static_cast<size_t>(sample)]; });
    return outputs;
  }

  /// Returns the metric of the goal.
  [[nodiscard]] double value(const RealOutputs& outputs) const {
    if (r_.goal.metric == Metric::kSqnr) return worst_decibels(reference_, outputs);
    const size_t row = row_of_output();
    const std::vector<int64_t> got = largest(outputs[0], row);
    if (r_.goal.metric == Metric::kAgreement) return share(got, largest(reference_[0], row));
    return share(got, r_.goal.labels);
  }

  /// Returns the accuracy of the float model as text for metric kTop1; empty for other metrics.
  [[nodiscard]] std::string float_text() const {
    if (r_.goal.metric != Metric::kTop1) return "";
    const std::vector<int64_t> places = largest(reference_[0], row_of_output());
    return fmt::format(", float {:.4g}", share(places, r_.goal.labels));
  }

  [[nodiscard]] bool reached(double value) const { return value >= r_.goal.least; }

  /// Returns the metric if these operators have 16 bits and reach the goal; else nothing. Samples
  /// are run until the goal cannot be reached any more.
  Result<std::optional<double>> reached_with(const std::vector<bool>& ops) {
    THIMBLE_TRY(const Variant tried, r_.attempt(ops));
    constexpr double kRounding = 1e-6;
    RealOutputs outputs(reference_.size(), std::vector<std::vector<double>>(order_.size()));
    std::vector<double> losses(reference_.size(), 0);
    std::mutex mutex;
    bool failed = false;
    for_each_integer_output(tried.lowered.graph, r_.samples, order_,
                            {r_.samples.count(), r_.threads},
                            [&](size_t sample, std::vector<std::vector<double>> got) {
                              const std::vector<double> added = losses_.of_sample(sample, got);
                              const std::lock_guard lock(mutex);
                              for (size_t i = 0; i < added.size(); ++i) losses[i] += added[i];
                              for (size_t i = 0; i < got.size(); ++i)
                                outputs[i][sample] = std::move(got[i]);
                              failed = failed || losses_.share_of(losses) > 1 + kRounding;
                              return !failed;
                            });
    if (failed) return std::optional<double>();
    const double metric = value(outputs);
    return reached(metric) ? std::optional(metric) : std::nullopt;
  }

  [[nodiscard]] size_t row_of_output() const {
    const ir::Shape& shape = r_.graph.type(r_.graph.outputs()[0]).shape;
    return shape.empty() ? 1 : static_cast<size_t>(shape.back());
  }

  /// Returns the operators that can have 16 bits and do not, ordered by decreasing loss. `all` is
  /// the graph in which every operator has 16 bits.
  Result<std::vector<Ranked>> ranked(const std::vector<bool>& ops, const Variant& trial,
                                     const LoweredGraph& all) const {
    std::vector<Candidate> candidates;
    for (size_t i = 0; i < ops.size(); ++i) {
      const OpPlan& plan = trial.plan.ops[i];
      const bool made = plan.role == Role::kLower || plan.role == Role::kTable;
      const Op& op = r_.graph.ops()[i];
      if (ops[i] || !made || keeps_width(op.kind) || !has_wide_form(r_.graph, op, plan)) continue;
      candidates.push_back({i, 0, RealOutputs(reference_.size())});
    }
    for (Candidate& each : candidates) each.first_op = first_op_of(each.op, all);
    std::ranges::stable_sort(candidates, {}, &Candidate::first_op);
    THIMBLE_CHECK(run_alone(all.graph, &candidates));
    std::vector<Ranked> ranked;
    for (const Candidate& each : candidates) {
      ranked.push_back({each.op, worst_decibels(reference_, each.outputs)});
    }
    std::ranges::sort(ranked, {}, [](const Ranked& r) { return std::pair(r.quality_db, r.op); });
    return ranked;
  }

  [[nodiscard]] int64_t ranking_samples() const {
    const auto elements = static_cast<int64_t>(reference_[0][0].size());
    return std::min(r_.samples.count(),
                    std::clamp(kRankingElements / std::max<int64_t>(elements, 1), int64_t{2},
                               kRankingSamplesMax));
  }

 private:
  /// An operator, and the outputs if it alone has 8 bits.
  struct Candidate {
    size_t op = 0;
    size_t first_op = 0;  // of the graph in which all have 16 bits: the first one that may change
    RealOutputs outputs;
  };

  [[nodiscard]] static size_t first_op_of(size_t op, const LoweredGraph& all) {
    const auto found = std::ranges::find(all.counterparts, op, &Counterpart::float_op);
    if (found == all.counterparts.end() || found == all.counterparts.begin()) return 0;
    return std::prev(found)->integer_op + 1;
  }

  /// Fills the outputs of candidates, which are ordered by first_op.
  Status run_alone(const ir::Graph& all, std::vector<Candidate>* candidates) const {
    // Each sample has the live activations of a run. With states, a trial has its own ones.
    constexpr int64_t kSamplesTogether = 4;
    const bool has_states = !r_.graph.states().empty();
    const int64_t count = ranking_samples();
    for (int64_t first = 0; first < count;) {
      const int64_t last = has_states ? count : std::min(first + kSamplesTogether, count);
      std::optional<TrialRuns> runs;
      if (!has_states) runs.emplace(all, r_.samples, first, last, r_.threads);
      for (Candidate& each : *candidates) {
        std::vector<bool> others(r_.graph.ops().size(), true);
        others[each.op] = false;
        THIMBLE_TRY(const Variant tried, r_.attempt(others));
        if (runs) runs->advance_to(each.first_op);
        RealOutputs outputs =
            runs ? runs->outputs(tried.lowered.graph)
                 : integer_outputs(tried.lowered.graph, r_.samples, {count, r_.threads});
        for (size_t i = 0; i < outputs.size(); ++i) {
          std::ranges::move(outputs[i], std::back_inserter(each.outputs[i]));
        }
      }
      first = last;
    }
    return ok();
  }

  const GoalRequest& r_;
  const RealOutputs& reference_;
  const Losses losses_;
  std::vector<int64_t> order_;  // of samples in trials
};

std::vector<bool> with(std::vector<bool> ops, const std::vector<Ranked>& added, size_t count) {
  for (size_t i = 0; i < count; ++i) ops[added[i].op] = true;
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

/// As reach_goal(), but the weights are rounded only if the goal needs it.
Result<GoalReport> promote(const GoalRequest& request, Search& search, std::vector<bool>& wide_ops,
                           Variant& trial) {
  const AccuracyGoal& goal = request.goal;
  GoalReport report;
  report.metric = goal.metric;
  report.least = goal.least;
  report.narrow = search.value(search.measured(trial));
  report.reached = report.narrow;
  if (search.reached(report.narrow)) return report;
  // Rounding the weights together costs no cycles.
  Variant rounded = trial;
  THIMBLE_TRY(const bool is_rounded, request.round(rounded));
  if (is_rounded) {
    const double value = search.value(search.measured(rounded));
    if (search.reached(value)) {
      report.reached = value;
      report.rounded = true;
      trial = std::move(rounded);
      return report;
    }
  }

  const std::vector<bool> every(request.graph.ops().size(), true);
  THIMBLE_TRY(std::optional<Variant> all, request.attempt(every));
  report.wide = search.value(integer_outputs(all->lowered.graph, request.samples,
                                             {request.samples.count(), request.threads}));
  if (!search.reached(report.wide)) {
    THIMBLE_TRY(report.rounded, request.round(*all));
    if (report.rounded) report.reached = search.value(search.measured(*all));
    if (!report.rounded || !search.reached(report.reached)) {
      const std::string text =
          report.rounded ? fmt::format(", with rounded weights {:.4g}", report.reached) : "";
      return unsupported(
          "--accuracy {}>={}: int8 reaches {:.4g}, int16 for every operator {:.4g}{}{}",
          metric_name(goal.metric), goal.least, report.narrow, report.wide, text,
          search.float_text());
    }
    report.promoted = promoted_notes(request.graph, all->plan, wide_ops);
    wide_ops = every;
    trial = std::move(*all);
    return report;
  }
  THIMBLE_TRY(std::vector<Ranked> ranked, search.ranked(wide_ops, trial, all->lowered));
  all.reset();
  assert(!ranked.empty() && "16 bits everywhere reach the goal, so an operator can be promoted");
  size_t too_few = 0, enough = ranked.size();
  while (enough - too_few > 1) {
    const size_t middle = (too_few + enough) / 2;
    THIMBLE_TRY(const auto reached, search.reached_with(with(wide_ops, ranked, middle)));
    (reached ? enough : too_few) = middle;
    if (reached) report.reached = *reached;
  }
  bool is_measured = enough < ranked.size();
  ranked.resize(enough);
  // The smallest losses first. The last operator is needed: the goal is not reached without it.
  const size_t trials = std::min(ranked.size() - 1, kDemotionTrials);
  const size_t last = ranked.size() - 1;
  for (size_t trial = 1; trial <= trials; ++trial) {
    std::vector<Ranked> fewer = ranked;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(last - trial));
    THIMBLE_TRY(const auto reached, search.reached_with(with(wide_ops, fewer, fewer.size())));
    if (!reached) continue;
    ranked = std::move(fewer);
    report.reached = *reached;
    is_measured = true;
  }
  std::ranges::sort(ranked, {}, &Ranked::op);
  wide_ops = with(wide_ops, ranked, ranked.size());
  THIMBLE_TRY(trial, request.attempt(wide_ops));
  if (!is_measured) report.reached = search.value(search.measured(trial));
  for (const Ranked& each : ranked) {
    const ir::ValueId result = trial.plan.ops[each.op].result;
    report.promoted.push_back({request.graph.value(result).name,
                               request.graph.ops()[each.op].source,
                               "int16: required by the accuracy goal"});
  }
  return report;
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
  const RealOutputs reference =
      float_outputs(request.graph, request.samples, {request.samples.count(), request.threads});
  Search search(request, reference);
  THIMBLE_CHECK(search.check_labels());
  THIMBLE_TRY(GoalReport report, promote(request, search, wide_ops, trial));
  if (report.rounded) return report;
  // Rounding changes the outputs: it must not lose the goal again.
  Variant rounded = trial;
  THIMBLE_TRY(const bool is_rounded, request.round(rounded));
  const double value = search.value(search.measured(rounded));
  if (!search.reached(value)) return report;
  report.reached = value;
  report.rounded = is_rounded;
  trial = std::move(rounded);
  return report;
}

}  // namespace thimble::quant
