// SPDX-License-Identifier: Apache-2.0
#include "quant/tune.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <memory>
#include <numeric>

#include "base/cancel.h"
#include "base/parallel.h"
#include "ir/op_cost.h"
#include "passes/uses.h"
#include "quant/assign.h"
#include "quant/calibrate.h"
#include "quant/equalize.h"
#include "quant/fast_float.h"
#include "quant/int4.h"
#include "quant/lower.h"
#include "quant/parallel.h"
#include "quant/plan.h"
#include "quant/quality.h"
#include "quant/reader_range.h"
#include "quant/widths.h"

namespace thimble::quant {
namespace {

using ir::Graph;
using ir::Op;
using ir::ValueId;

constexpr double kTrialMacs = 1.5e10;  // limit for all trials together; a few seconds
constexpr Observer kAll[] = {Observer::kExtrapolate, Observer::kMinMax, Observer::kPercentile,
                             Observer::kMse};

/// Returns the cost of one run in multiply-accumulates. An element of another operator counts as
/// kPerElement.
double macs_of(const Graph& graph) {
  constexpr double kPerElement = 16;
  double macs = 1;
  for (const Op& op : graph.ops()) {
    macs += kPerElement * static_cast<double>(graph.type(op.output).elements());
    macs += static_cast<double>(ir::macs_of(graph, op));
  }
  return macs;
}

/// Returns samples `first` to `last`, excluding `last`.
CalibrationData slice(const Graph& graph, const CalibrationData& data, int64_t first,
                      int64_t last) {
  CalibrationData part;
  for (size_t i = 0; i < data.inputs.size(); ++i) {
    const ir::Tensor& whole = data.inputs[i].data;
    const ir::Shape& shape = graph.type(graph.inputs()[i]).shape;
    // One entry of the first axis is a sample, or one element of a sample's batch.
    const int64_t entries = whole.shape.size() > shape.size() ? 1 : shape[0];
    ir::Shape taken = whole.shape;
    taken[0] = (last - first) * entries;
    ir::Tensor tensor = ir::zeros(whole.dtype, taken);
    const size_t sample_bytes = tensor.bytes.size() / static_cast<size_t>(last - first);
    std::memcpy(tensor.bytes.data(), whole.bytes.data() + static_cast<size_t>(first) * sample_bytes,
                tensor.bytes.size());
    part.inputs.push_back({data.inputs[i].name, std::move(tensor)});
  }
  return part;
}

/// Calibration data in two parts. Each part measures what was chosen with the other. With one
/// sample, both parts are that sample.
struct Halves {
  CalibrationData part[2];

  static Result<Halves> of(const Graph& graph, const CalibrationData& data) {
    THIMBLE_TRY(const Samples all, Samples::check(graph, data));
    const int64_t count = all.count();
    Halves halves;
    if (count < 2) {
      halves.part[0] = halves.part[1] = slice(graph, data, 0, count);
    } else {
      halves.part[0] = slice(graph, data, 0, count / 2);
      halves.part[1] = slice(graph, data, count / 2, count);
    }
    return halves;
  }
};

/// SQNR by half and output.
using Scores = std::array<std::vector<double>, 2>;

/// An output without an error gets a large score, a constant one the same score in all trials.
double finite_score(double db) {
  constexpr double kMost = 199;
  return std::isnan(db) ? 0 : std::min(db, kMost);
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}
double mean(const Scores& scores) {
  return (mean(scores[0]) + mean(scores[1])) / 2;
}

bool is_gain(const Scores& before, const Scores& after, double least_db = kMinGainDb) {
  if (mean(after) - mean(before) < least_db) return false;
  for (size_t half = 0; half < 2; ++half) {
    if (mean(after[half]) < mean(before[half])) return false;
  }
  for (size_t i = 0; i < before[0].size(); ++i) {
    const double gain = after[0][i] + after[1][i] - before[0][i] - before[1][i];
    if (gain / 2 <= -kMinGainDb) return false;
  }
  return true;
}

/// One float graph with the observations of each half.
class TrialScorer {
 public:
  static Result<std::unique_ptr<TrialScorer>> make(Graph graph, const Halves& halves,
                                                   const QuantSpec& spec,
                                                   const QuantizeOptions& options) {
    auto scorer = std::unique_ptr<TrialScorer>(new TrialScorer(std::move(graph), options));
    THIMBLE_TRY(scorer->plan_, plan(scorer->graph_, {}, preferences_of(spec, options)));
    const WidthRequest widths{requested_wide(scorer->graph_, options), {}, options.io};
    assign_widths(scorer->graph_, widths, scorer->plan_);
    scorer->observed_ = Classes(scorer->graph_, scorer->plan_).observed();
    for (size_t half = 0; half < 2; ++half) {
      THIMBLE_TRY(Samples samples, Samples::check(scorer->graph_, halves.part[half]));
      scorer->samples_.push_back(samples);
      THIMBLE_TRY(scorer->seen_[half],
                  calibrate(scorer->graph_, scorer->samples_[half], scorer->observed_,
                            Histogram::Detail::kBins, options.threads));
      restrict_to_readers(scorer->graph_, scorer->plan_, scorer->seen_[half].histograms);
    }
    return scorer;
  }

  [[nodiscard]] const Graph& graph() const { return graph_; }
  /// Returns the values whose observer is tuned. Graph outputs are excluded: no later operator
  /// compensates for clipping there, and unseen data exceeds the range most at outputs.
  [[nodiscard]] std::vector<ValueId> values() const {
    const passes::Uses uses(graph_);
    std::vector<ValueId> inner;
    std::ranges::copy_if(observed_, std::back_inserter(inner),
                         [&](ValueId id) { return !uses.is_output(id); });
    return inner;
  }
  [[nodiscard]] double macs_per_trial() const {
    return 2 * macs_of(graph_) * static_cast<double>(scored_samples(0) + scored_samples(1));
  }

  Result<Scores> score(const std::map<ValueId, Observer>& observers) const {
    THIMBLE_CHECK(check_cancelled());
    Scores scores;
    for (size_t half = 0; half < 2; ++half) {
      std::vector<Histogram> histograms = seen_[half].histograms;
      for (const auto& [id, observer] : observers) {
        histograms[static_cast<size_t>(id)].choose(observer);
      }
      Classes::Assigned assigned = Classes(graph_, plan_).assign(histograms, options_.observer);
      Decisions decisions{std::move(assigned.params),
                          std::move(assigned.narrow),
                          seen_[half].channel_means,
                          {},
                          options_.single_rounding ? 1 : 0,
                          std::move(assigned.symmetric),
                          int4_results(graph_, plan_, options_),
                          options_.int4_groups};
      THIMBLE_TRY(const LoweredGraph lowered, lower(graph_, plan_, decisions, options_.io));
      scores[half] = measure_quality(graph_, lowered, samples_[1 - half],
                                     {scored_samples(1 - half), options_.threads})
                         .output_db;
      for (double& db : scores[half]) db = finite_score(db);
    }
    return scores;
  }

 private:
  TrialScorer(Graph graph, const QuantizeOptions& options)
      : graph_(std::move(graph)), options_(options) {}

  [[nodiscard]] int64_t scored_samples(size_t half) const {
    constexpr double kMacs = 1.2e9, kFewest = 4;
    const auto most = static_cast<int64_t>(std::max(kFewest, kMacs / macs_of(graph_)));
    return std::min(samples_[half].count(), most);
  }

  const Graph graph_;
  const QuantizeOptions options_;
  Plan plan_;
  std::vector<ValueId> observed_;
  std::vector<Samples> samples_;
  std::array<Observations, 2> seen_;
};

/// Returns the largest magnitude of each channel of each group, over the quantized values only. A
/// value whose only reader is a clamp is not quantized.
Result<std::vector<std::vector<double>>> channel_extents(const Graph& graph,
                                                         const ChannelGroups& channel_groups,
                                                         const Samples& samples, int threads) {
  using Extents = std::vector<std::vector<double>>;
  Extents none;
  for (const ChannelGroup& channel_group : channel_groups.channel_groups) {
    none.emplace_back(static_cast<size_t>(channel_group.channels), 0.0);
  }
  const passes::Uses uses(graph);
  const int used = thread_count(threads, samples.count(), graph);
  std::vector<Extents> parts(static_cast<size_t>(used), none);
  std::vector<std::unique_ptr<FastExecutor>> engines;
  for (int i = 0; i < used; ++i)
    engines.push_back(std::make_unique<FastExecutor>(graph, float_kernels()));
  for_each_index(samples.count(), used, [&](int64_t sample, int thread) {
    Extents& part = parts[static_cast<size_t>(thread)];
    engines[static_cast<size_t>(thread)]->run(
        samples.sample(sample), [&](const Op& op, const ir::Tensor& result) {
          const int channel_group = channel_groups.group_of[static_cast<size_t>(op.output)];
          const Op* reader = uses.only_reader(op.output);
          if (channel_group < 0 || (reader != nullptr && reader->kind == ir::OpKind::clamp)) return;
          const ChannelLayout& layout = channel_groups.layouts[static_cast<size_t>(op.output)];
          const size_t plane =
              static_cast<size_t>(ir::strides(result.shape, {})[layout.dim] * layout.inner);
          std::vector<double>& reach = part[static_cast<size_t>(channel_group)];
          const auto x = result.data<float>();
          for (size_t i = 0; i < x.size(); i += plane) {
            const Extent extent = extent_of(x.subspan(i, plane));
            double& furthest = reach[i / plane % reach.size()];
            furthest = std::max(furthest, static_cast<double>(std::max(-extent.min, extent.max)));
          }
        });
  });
  for (size_t i = 1; i < parts.size(); ++i) {
    for (size_t r = 0; r < none.size(); ++r) {
      for (size_t c = 0; c < none[r].size(); ++c) {
        parts[0][r][c] = std::max(parts[0][r][c], parts[i][r][c]);
      }
    }
  }
  return parts[0];
}

class Tuner {
 public:
  Tuner(const Graph& graph, const CalibrationData& data, const QuantSpec& spec,
        const QuantizeOptions& options)
      : graph_(graph), data_(data), spec_(spec), options_(options) {}

  Result<Tuned> run() {
    THIMBLE_TRY(halves_, Halves::of(graph_, data_));
    THIMBLE_TRY(scorer_, TrialScorer::make(graph_, halves_, spec_, options_));
    THIMBLE_TRY(best_, scorer_->score({}));
    spend(*scorer_);
    THIMBLE_CHECK(try_equalization());
    THIMBLE_CHECK(try_observers());
    return Tuned{scorer_->graph(), std::move(observers_), std::move(trials_)};
  }

 private:
  void spend(const TrialScorer& scorer) {
    constexpr int64_t kAll = 100;  // the trials end when they have used up kTrialMacs, or earlier
    spent_ += scorer.macs_per_trial();
    report_progress(options_.progress, "tuning",
                    static_cast<int64_t>(static_cast<double>(kAll) * spent_ / kTrialMacs), kAll);
  }
  [[nodiscard]] bool may_go_on() const { return spent_ + scorer_->macs_per_trial() <= kTrialMacs; }

  bool note(std::string tool, std::string where, const Scores& after) {
    const bool kept = is_gain(best_, after);
    trials_.push_back({std::move(tool), std::move(where), mean(best_), mean(after), kept});
    if (kept) best_ = after;
    return kept;
  }

  Result<bool> try_factors(const ChannelGroups& channel_groups, const ChannelFactors& factors,
                           const std::string& where) {
    THIMBLE_TRY(Graph scaled, scale_channels(graph_, channel_groups, factors));
    THIMBLE_TRY(auto scorer, TrialScorer::make(std::move(scaled), halves_, spec_, options_));
    THIMBLE_TRY(const Scores scores, scorer->score({}));
    spend(*scorer);
    const bool kept = note("equalize", where, scores);
    if (kept) scorer_ = std::move(scorer);
    return kept;
  }

  /// Tries all groups together. If that is not kept, tries one group after the other.
  Status try_equalization() {
    const ChannelGroups channel_groups = find_channel_groups(graph_);
    if (channel_groups.channel_groups.empty()) return ok();
    THIMBLE_TRY(const Samples samples, Samples::check(graph_, data_));
    THIMBLE_TRY(const auto extents,
                channel_extents(graph_, channel_groups, samples, options_.threads));
    const ChannelFactors all = matching_factors(graph_, channel_groups, extents);
    THIMBLE_TRY(const bool kept, try_factors(channel_groups, all, "all layers"));
    if (kept) return ok();
    ChannelFactors some(all.size());
    for (size_t r = 0; r < all.size() && may_go_on(); ++r) {
      if (all[r].empty()) continue;
      some[r] = all[r];
      const std::string& name = graph_.value(channel_groups.channel_groups[r].values.front()).name;
      THIMBLE_TRY(const bool gained, try_factors(channel_groups, some, name));
      if (!gained) some[r].clear();
    }
    return ok();
  }

  /// Tries one observer for all values, then other observers for single values.
  Status try_observers() {
    for (const Observer observer : kAll) {
      if (observer == options_.observer || !may_go_on()) continue;
      std::map<ValueId, Observer> everywhere;
      for (const ValueId id : scorer_->values()) everywhere[id] = observer;
      THIMBLE_CHECK(try_choice(std::move(everywhere), observer, "all values"));
    }
    for (const ValueId id : scorer_->values()) {
      for (const Observer observer : kAll) {
        const auto chosen = observers_.find(id);
        const Observer now = chosen == observers_.end() ? options_.observer : chosen->second;
        if (observer == now || !may_go_on()) continue;
        std::map<ValueId, Observer> other = observers_;
        other[id] = observer;
        THIMBLE_CHECK(try_choice(std::move(other), observer, scorer_->graph().value(id).name));
      }
    }
    return ok();
  }

  Status try_choice(std::map<ValueId, Observer> observers, Observer tried,
                    const std::string& where) {
    THIMBLE_TRY(const Scores scores, scorer_->score(observers));
    spend(*scorer_);
    if (note(std::string(observer_name(tried)), where, scores)) observers_ = std::move(observers);
    return ok();
  }

  const Graph& graph_;
  const CalibrationData& data_;
  const QuantSpec& spec_;
  const QuantizeOptions& options_;
  Halves halves_;
  std::unique_ptr<TrialScorer> scorer_;
  Scores best_;
  double spent_ = 0;
  std::map<ValueId, Observer> observers_;
  std::vector<Trial> trials_;
};

}  // namespace

Result<Tuned> tune(const Graph& graph, const CalibrationData& data, const QuantSpec& spec,
                   const QuantizeOptions& options) {
  return Tuner(graph, data, spec, options).run();
}

Result<std::optional<ObserverChoice>> choose_observer(const Graph& graph,
                                                      const CalibrationData& data,
                                                      const QuantSpec& spec,
                                                      const QuantizeOptions& options) {
  constexpr double kWork[kEffortMax + 1] = {0, 0, 2e10, 2e12};  // as kTrialMacs, by effort
  // An observer may clip what few samples do not contain: with 16 samples of lstm_classifier this
  // choice lost 10 dB on other data.
  constexpr int64_t kSamplesMin = 64;
  constexpr double kPasses = 2 + 2 * std::size(kAll);  // ranges of both halves, and the trials
  THIMBLE_TRY(const Samples samples, Samples::check(graph, data));
  const double work = kPasses * macs_of(graph) * static_cast<double>(samples.count());
  if (samples.count() < kSamplesMin || work > kWork[static_cast<size_t>(options.effort)]) {
    return std::optional<ObserverChoice>();
  }
  report_progress(options.progress, "comparing observers");
  THIMBLE_TRY(const Halves halves, Halves::of(graph, data));
  THIMBLE_TRY(const auto scorer, TrialScorer::make(graph, halves, spec, options));
  THIMBLE_TRY(const Scores before, scorer->score({}));
  Scores best = before;
  std::optional<ObserverChoice> choice;
  for (const Observer observer : kAll) {
    if (observer == options.observer) continue;
    std::map<ValueId, Observer> everywhere;
    for (const ValueId id : scorer->values()) everywhere[id] = observer;
    THIMBLE_TRY(const Scores scores, scorer->score(everywhere));
    if (!is_gain(before, scores, kObserverGainDb) || mean(scores) <= mean(best)) continue;
    best = scores;
    choice = ObserverChoice{observer, mean(before), mean(scores)};
  }
  return choice;
}

Result<Graph> equalize(const Graph& graph, const CalibrationData& data, int threads) {
  const ChannelGroups channel_groups = find_channel_groups(graph);
  THIMBLE_TRY(const Samples samples, Samples::check(graph, data));
  THIMBLE_TRY(const auto extents, channel_extents(graph, channel_groups, samples, threads));
  return scale_channels(graph, channel_groups, matching_factors(graph, channel_groups, extents));
}

}  // namespace thimble::quant
