// SPDX-License-Identifier: Apache-2.0
#include "quant/quantize.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>

#include "base/cancel.h"
#include "base/parallel.h"
#include "ir/op_cost.h"
#include "ir/weight_bits.h"
#include "quant/adaptive_rounding.h"
#include "quant/assign.h"
#include "quant/calibrate.h"
#include "quant/expose.h"
#include "quant/fused_activation.h"
#include "quant/global_mean.h"
#include "quant/int4.h"
#include "quant/joint.h"
#include "quant/lower.h"
#include "quant/masked.h"
#include "quant/mixed.h"
#include "quant/output_bias.h"
#include "quant/per_tensor.h"
#include "quant/pins.h"
#include "quant/plan.h"
#include "quant/quality.h"
#include "quant/reader_range.h"
#include "quant/report_quality.h"
#include "quant/score.h"
#include "quant/tied.h"
#include "quant/tune.h"
#include "quant/widths.h"

namespace thimble::quant {
namespace {

using ir::Graph;
using ir::Op;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Returns the observations of calibration; empty histograms if there is no calibration data.
Result<Observations> observe(const Graph& graph, const std::optional<Samples>& samples,
                             const std::vector<ir::ValueId>& observed,
                             const QuantizeOptions& options, OperandRows* rows,
                             const std::vector<ir::ValueId>& binned) {
  if (!samples) {
    return Observations{std::vector<Histogram>(graph.value_count()),
                        std::vector<std::vector<double>>(graph.value_count())};
  }
  const bool bins = options.tune || options.observer == Observer::kPercentile ||
                    options.observer == Observer::kMse;
  const auto detail = bins ? Histogram::Detail::kBins : Histogram::Detail::kExtentOnly;
  return calibrate(graph, *samples, observed, detail, options.threads, options.progress, rows,
                   binned);
}

/// Returns an error with one line per operator that PyTorch did not quantize.
Status check_known(const Graph& graph, const std::vector<ir::ValueId>& unknown) {
  if (unknown.empty()) return ok();
  const auto producers = graph.producers();
  std::string lines;
  for (const ir::ValueId id : unknown) {
    const int producer = producers[static_cast<size_t>(id)];
    if (producer < 0) {
      lines += fmt::format("\n  input {}", graph.value(id).name);
      continue;
    }
    const ir::Op& op = graph.ops()[static_cast<size_t>(producer)];
    // An operator created by convert_pt2e has no source line; its name identifies it.
    const std::string place = op.source.line > 0 ? op.source.where() : graph.value(id).name;
    lines += fmt::format("\n  {:<14} {}", place, op.source.text);
    if (!op.source.module.empty()) lines += fmt::format("   in module {}", op.source.module);
    lines += fmt::format(": {}", op.source.target.empty() ? ir::op_name(op.kind)
                                                          : std::string_view(op.source.target));
  }
  return bad_input(
      "PyTorch's quantizer did not quantize these values; calibration data is required "
      "(--calibrate DATA.npz){}",
      lines);
}

/// Returns the float graph to quantize, with the parameters chosen by PyTorch's quantizer.
Result<PinnedGraph> pinned_graph(const Graph& graph, const QuantSpec& spec) {
  if (!is_prequantized(graph)) {
    THIMBLE_TRY(Graph exposed, expose_hidden_ranges(graph));
    if (spec.own_means) {
      THIMBLE_TRY(exposed, pools_to_means(exposed));
    }
    return PinnedGraph{std::move(exposed), {}, {}};
  }
  for (const ir::Op& op : graph.ops()) {
    if (op.kind != ir::OpKind::lstm) continue;
    return unsupported("{}: an lstm in a graph that PyTorch quantized: quantize the float model",
                       op.source.where());
  }
  // Also for ExecuTorch's operators, so that the integers of a quantized program do not depend on
  // the operators of the file: a pool and a table after it would round twice.
  THIMBLE_TRY(const Graph means, pools_to_means(graph, true));
  THIMBLE_TRY(PinnedGraph pinned, extract_pins(means));
  return pinned;
}

/// Multiply-accumulates for rounding weights, by QuantizeOptions::effort.
constexpr double kRoundingWork[kEffortMax + 1] = {0, 5e8, 1e10, 1e12};

/// Everything that does not change while widths are tried.
class Quantizer {
 public:
  Quantizer(const Graph& graph, const Plan& roles, const QuantSpec& spec,
            const QuantizeOptions& options)
      : graph_(graph), roles_(roles), spec_(spec), options_(options) {}

  [[nodiscard]] bool may_be_wide() const {
    const bool pinned = std::ranges::any_of(
        roles_.pins.params, [](const std::optional<Params>& pin) { return pin && pin->wide; });
    return pinned || options_.wide || options_.goal;
  }

  /// Observes the values. `observers` overrides the observer of single values.
  Status calibrate(std::optional<Samples> samples,
                   const std::map<ir::ValueId, Observer>& observers) {
    samples_ = samples;
    // The observations must be sufficient for all widths.
    Plan plan = roles_;
    assign_widths(graph_, request(asked()), plan);
    const Classes classes(graph_, plan);
    if (!samples_) THIMBLE_CHECK(check_known(graph_, classes.unknown()));
    if (samples_ && options_.joint == nullptr && held_samples() > 0) {
      rows_ = OperandRows::choose(graph_, roles_, held_samples(), samples_->count(),
                                  kRoundingWork[static_cast<size_t>(options_.effort)]);
    }
    THIMBLE_TRY(seen_, observe(graph_, samples_, classes.observed(may_be_wide()), options_, &rows_,
                               read_by_tables(graph_, roles_)));
    restrict_to_readers(graph_, roles_, seen_.histograms);
    for (const auto& [id, observer] : observers) {
      seen_.histograms[static_cast<size_t>(id)].choose(observer);
    }
    if (options_.joint != nullptr) options_.joint->apply(graph_, &seen_);
    return ok();
  }

  [[nodiscard]] const Observations& seen() const { return seen_; }

  /// Returns the values that PyTorch did not quantize.
  [[nodiscard]] std::vector<ir::ValueId> unknown() const {
    Plan plan = roles_;
    assign_widths(graph_, request(asked()), plan);
    return Classes(graph_, plan).unknown();
  }

  /// By operator: true if the options request 16 bits.
  [[nodiscard]] std::vector<bool> asked() const { return requested_wide(graph_, options_); }

  /// Returns the integer graph in which these operators have 16 bits.
  Result<Variant> attempt(const std::vector<bool>& wide_ops) const {
    THIMBLE_CHECK(check_cancelled());
    Variant trial{roles_, {}, {}};
    assign_widths(graph_, request(wide_ops), trial.plan);
    if (const JointCalibration::Decided* const first = decided()) {
      for (const ir::State& state : graph_.states()) {
        const auto found = first->states.find(graph_.value(state.value).name);
        if (found != first->states.end()) trial.plan.given[state.value] = found->second;
      }
    }
    THIMBLE_CHECK(assign(trial));
    return trial;
  }

  /// Gives linears one weight scale as spec_.linear_weights requires.
  Status simplify(Variant& trial, QuantReport& report) const {
    if (spec_.linear_weights == LinearWeights::kPerTensor) return simplify_all(trial, report);
    if (const JointCalibration::Decided* const first = decided()) {
      for (size_t i = 0; i < graph_.ops().size(); ++i) {
        const Op& op = graph_.ops()[i];
        if (op.kind != ir::OpKind::linear || trial.plan.ops[i].wide) continue;
        if (first->per_tensor.contains(graph_.value(op.inputs[1]).name))
          trial.decisions.per_tensor.insert(i);
      }
      return lower_again(trial, report);
    }
    if (!samples_ || spec_.linear_weights != LinearWeights::kPerTensorIfClose) return ok();
    THIMBLE_TRY(
        trial.decisions.per_tensor,
        close_per_tensor_linears(graph_, trial.plan, trial.decisions, trial.lowered, *samples_,
                                 options_.io, options_.threads, spec_.per_tensor_tolerance_db));
    return lower_again(trial, report);
  }

  Status simplify_all(Variant& trial, QuantReport& report) const {
    for (size_t i = 0; i < graph_.ops().size(); ++i) {
      const Op& op = graph_.ops()[i];
      const bool own =
          op.kind == ir::OpKind::linear && !roles_.pins.constants.contains(op.inputs[1]);
      if (own) trial.decisions.per_tensor.insert(i);
    }
    return lower_again(trial, report);
  }

  /// Records the decisions that the methods after this one take over.
  void decide(const Variant& trial) const {
    if (options_.joint == nullptr || decided() != nullptr) return;
    JointCalibration::Decided decided;
    for (const ir::State& state : graph_.states()) {
      decided.states[graph_.value(state.value).name] =
          trial.decisions.params[ir::index_of(state.value)];
    }
    for (const size_t linear : trial.decisions.per_tensor) {
      decided.per_tensor.insert(graph_.value(graph_.ops()[linear].inputs[1]).name);
    }
    options_.joint->decide(std::move(decided));
  }

  void measure(const Variant& trial, QuantReport& report) const {
    if (!samples_ || options_.quality_samples <= 0) return;
    const QualityRequest request{std::min(samples_->count(), options_.quality_samples),
                                 options_.threads, options_.progress};
    report.quality_samples = request.samples;
    report_quality(trial.lowered, measure_quality(graph_, trial.lowered, *samples_, request),
                   report);
  }

  /// Rounds weights together (adaptive_rounding.h) and corrects the last biases (output_bias.h),
  /// unless the samples that were held back contradict.
  Status adapt(Variant& trial, QuantReport& report) const {
    if (!samples_ || options_.joint != nullptr || held_samples() == 0) return ok();
    report_progress(options_.progress, "rounding weights");
    const QualityRequest request{held_samples(), options_.threads};
    const RealOutputs reference = float_outputs(graph_, *samples_, request);
    const auto measured = [&](const LoweredGraph& lowered) {
      return score_of(reference, integer_outputs(lowered.graph, *samples_, request));
    };
    const Score before = measured(trial.lowered);
    Score best = before;
    Decisions decisions = trial.decisions;
    const auto attempt = [&](Decisions tried) -> Result<bool> {
      THIMBLE_CHECK(check_cancelled());
      THIMBLE_TRY(LoweredGraph lowered, lower(graph_, trial.plan, tried, options_.io));
      Score scores = measured(lowered);
      if (!is_accepted(best, scores)) return false;
      best = std::move(scores);
      trial.decisions = std::move(tried);
      trial.lowered = std::move(lowered);
      return true;
    };
    bool rounded = false;
    if (!rows_.empty()) {
      THIMBLE_TRY(decisions.adapted, adapted_weights(trial));
      THIMBLE_TRY(rounded, attempt(std::move(decisions)));
    }
    decisions = trial.decisions;
    decisions.bias_error = output_bias_errors({graph_, trial.plan, trial.lowered, *samples_,
                                               held_samples(), bias_samples(), options_.threads});
    bool corrected = false;
    if (!decisions.bias_error.empty()) {
      THIMBLE_TRY(corrected, attempt(std::move(decisions)));
    }
    if (!rounded && !corrected) return ok();
    report.rounding = RoundingReport{static_cast<int>(trial.decisions.adapted.size()),
                                     static_cast<int>(trial.decisions.bias_error.size()),
                                     request.samples, before.mean_db(), best.mean_db()};
    return ok();
  }

  [[nodiscard]] const Samples* samples() const { return samples_ ? &*samples_ : nullptr; }

  /// Returns how many samples the steps after the calibration read.
  [[nodiscard]] int64_t samples_needed() const {
    if (!samples_) return 0;
    if (options_.goal || options_.joint != nullptr || held_samples() > 0) return samples_->count();
    return std::min(samples_->count(), std::max(options_.quality_samples,
                                                per_tensor_samples(graph_, samples_->count())));
  }

 private:
  /// Returns the decisions of another method; null if this is the first one.
  [[nodiscard]] const JointCalibration::Decided* decided() const {
    const bool any = options_.joint != nullptr && options_.joint->decided().has_value();
    return any ? &*options_.joint->decided() : nullptr;
  }

  /// Number of samples that do not determine the rounding: the first ones, a quarter of all, fewer
  /// for a larger network. 0, and no rounding, if the measurements would need too much work, or if
  /// they are too few to confirm it.
  [[nodiscard]] int64_t held_samples() const {
    constexpr double kWork[kEffortMax + 1] = {0, 1e9, 3e10, 1e13};
    constexpr int64_t kShare = 4, kFewest = 3;
    constexpr double kRuns = 12;  // of both graphs, for each of these samples
    double work = 1;
    for (const Op& op : graph_.ops()) work += static_cast<double>(ir::macs_or_elements(graph_, op));
    const int64_t share = (samples_->count() + kShare - 1) / kShare;
    const double most = kWork[static_cast<size_t>(options_.effort)] / (kRuns * work);
    if (share < kFewest || most < static_cast<double>(kFewest)) return 0;
    return most < static_cast<double>(share) ? static_cast<int64_t>(most) : share;
  }

  /// Number of samples, with those that are held back, that determine the corrections of biases.
  [[nodiscard]] int64_t bias_samples() const {
    constexpr int64_t kFactor = 4;
    return std::min(samples_->count(), kFactor * held_samples());
  }

  /// Returns the rounded weights of all operators of rows_, by result.
  Result<std::map<ir::ValueId, AdaptedWeights>> adapted_weights(const Variant& trial) const {
    const auto& matrices = rows_.matrices();
    std::vector<IntegerWeights> nearest;
    for (const OperandMatrix& matrix : matrices) {
      const Op& op = graph_.ops()[matrix.op];
      THIMBLE_TRY(IntegerWeights weights,
                  weights_of(graph_, op, trial.plan.ops[matrix.op].result, trial.plan,
                             trial.decisions, !trial.decisions.per_tensor.contains(matrix.op)));
      nearest.push_back(std::move(weights));
    }
    std::vector<AdaptedWeights> found(matrices.size());
    const auto count = static_cast<int64_t>(matrices.size());
    const int threads = options_.threads > 0 ? options_.threads : machine_threads();
    for_each_index(count, threads, [&](int64_t index, int) {
      const auto i = static_cast<size_t>(index);
      const Op& op = graph_.ops()[matrices[i].op];
      const ir::ValueId y = trial.plan.ops[matrices[i].op].result;
      const bool wide = trial.decisions.params[ir::index_of(y)].wide;
      found[i] = adapt_rounding(
          {&matrices[i], graph_.value(op.inputs[1]).constant.get(), nearest[i].scale,
           nearest[i].w->data<int8_t>(), trial.decisions.read(op.inputs[0], wide).scale,
           op.inputs[2] != ir::kNoValue, code_range(nearest[i].bits), nearest[i].factors});
    });
    std::map<ir::ValueId, AdaptedWeights> result;
    for (size_t i = 0; i < found.size(); ++i) {
      result[graph_.ops()[matrices[i].op].output] = std::move(found[i]);
    }
    return result;
  }

  /// Assigns the parameters of all values, keeps the weight scales, and lowers the graph.
  Status assign(Variant& trial) const {
    Classes classes(graph_, trial.plan);
    Classes::Assigned assigned = classes.assign(seen_.histograms, options_.observer);
    trial.decisions = {std::move(assigned.params),
                       std::move(assigned.narrow),
                       seen_.channel_means,
                       std::move(trial.decisions.per_tensor),
                       options_.single_rounding ? 1 : 0,
                       std::move(assigned.symmetric),
                       int4_results(graph_, trial.plan, options_),
                       options_.int4_groups};
    trial.decisions.weight_cache = &weight_cache_;
    THIMBLE_TRY(trial.lowered, lower(graph_, trial.plan, trial.decisions, options_.io));
    return ok();
  }

  /// Lowers the graph with the weight scales that were chosen.
  Status lower_again(Variant& trial, QuantReport& report) const {
    const std::set<size_t>& per_tensor = trial.decisions.per_tensor;
    report.per_tensor_linears = static_cast<int>(per_tensor.size());
    if (per_tensor.empty()) return ok();
    if (spec_.tied_tables) {
      const auto tables = tied_tables(graph_, trial.plan, per_tensor);
      trial.plan.given.insert(tables.begin(), tables.end());
      if (!tables.empty()) return assign(trial);
    }
    THIMBLE_TRY(trial.lowered, lower(graph_, trial.plan, trial.decisions, options_.io));
    return ok();
  }

  /// Values with masked elements must have 8 bits.
  [[nodiscard]] WidthRequest request(std::vector<bool> ops) const {
    WidthRequest request{std::move(ops), {}, options_.io};
    const std::vector<double> limits = mask_limits(graph_);
    bool found = false;
    for (size_t i = 0; i < limits.size() && !found; ++i) {
      if (std::isnan(limits[i])) continue;
      const auto& constant = graph_.value(static_cast<ir::ValueId>(i)).constant;
      const bool seen = i < seen_.histograms.size() && seen_.histograms[i].masked();
      found = seen || (constant != nullptr && has_masked_elements(*constant, limits[i]));
    }
    if (!found) return request;
    for (const double limit : limits) request.refuse.push_back(!std::isnan(limit));
    return request;
  }
  [[nodiscard]] static bool has_masked_elements(const ir::Tensor& constant, double limit) {
    return std::ranges::any_of(constant.data<float>(), [&](float element) {
      return static_cast<double>(element) <= limit;
    });
  }

  const Graph& graph_;
  const Plan& roles_;
  const QuantSpec& spec_;
  const QuantizeOptions& options_;
  std::optional<Samples> samples_;
  OperandRows rows_;
  Observations seen_;
  mutable WeightCache weight_cache_;
};

/// Returns the operators that remain int8 although 16 bits were requested.
std::vector<WidthNote> kept_narrow(const Graph& graph, const Plan& plan,
                                   const std::vector<bool>& asked) {
  std::vector<WidthNote> notes;
  for (size_t i = 0; i < asked.size(); ++i) {
    const OpPlan& op_plan = plan.ops[i];
    const bool made = op_plan.role == Role::kLower || op_plan.role == Role::kTable;
    if (!asked[i] || !made || op_plan.wide) continue;
    const Op& op = graph.ops()[i];
    if (graph.type(op_plan.result).dtype != ir::DType::kF32) continue;
    std::string reason = fmt::format("int8: {} has no 16-bit form", ir::op_name(op.kind));
    if (keeps_width(op.kind)) {
      reason = "int8: it has the width of its operands";
    } else if (has_wide_form(graph, op, op_plan)) {
      reason = "int8: its values mask positions of a softmax";
    }
    notes.push_back({graph.value(op_plan.result).name, op.source, std::move(reason)});
  }
  return notes;
}

/// Applies equalization or tuning to the graph. `observers` receives the observers of single
/// values.
Status prepare_channels(Graph& graph, const CalibrationData& data, const QuantSpec& spec,
                        const QuantizeOptions& options, std::map<ir::ValueId, Observer>& observers,
                        std::vector<Trial>& trials) {
  if (options.tune) {
    THIMBLE_TRY(Tuned tuned, tune(graph, data, spec, options));
    graph = std::move(tuned.graph);
    observers = std::move(tuned.observers);
    trials = std::move(tuned.trials);
  } else if (options.equalize) {
    THIMBLE_TRY(graph, equalize(graph, data, options.threads));
  }
  return ok();
}

/// Returns true if observers are compared before the calibration.
bool chooses_observer(const Graph& graph, const CalibrationData& data,
                      const QuantizeOptions& options) {
  return options.choose_observer && options.effort > 0 && !options.tune && !options.goal &&
         options.joint == nullptr && !data.inputs.empty() && !is_prequantized(graph);
}

}  // namespace

Result<QuantizedModel> quantize(const ir::Graph& prepared, const CalibrationData& data,
                                const QuantSpec& spec, const QuantizeOptions& asked) {
  // Roles are planned first, so that an operator without an integer form is reported before
  // calibration runs.
  THIMBLE_TRY(PinnedGraph pinned, pinned_graph(prepared, spec));
  if (is_prequantized(prepared) && data.inputs.empty()) pin_before_activations(pinned);
  QuantReport report;
  std::map<ir::ValueId, Observer> observers;
  if (asked.tune || asked.equalize) {
    if (is_prequantized(prepared)) {
      return bad_input("PyTorch quantized this model: --tune and --equalize are not supported");
    }
    THIMBLE_TRY(const Plan possible, plan(pinned.graph, pinned.pins, preferences_of(spec, asked)));
    (void)possible;
    THIMBLE_CHECK(prepare_channels(pinned.graph, data, spec, asked, observers, report.trials));
  }
  const ir::Graph& float_graph = pinned.graph;
  QuantizeOptions options = asked;
  if (chooses_observer(prepared, data, asked)) {
    THIMBLE_TRY(report.observer_choice, choose_observer(float_graph, data, spec, asked));
    if (report.observer_choice) options.observer = report.observer_choice->observer;
  }
  THIMBLE_TRY(const Plan roles,
              plan(float_graph, std::move(pinned.pins), preferences_of(spec, options)));
  std::optional<Samples> samples;
  if (!data.inputs.empty() || !is_prequantized(prepared)) {
    THIMBLE_TRY(samples, Samples::check(float_graph, data));
  }
  report.samples = samples ? samples->count() : 0;

  const auto calibration_start = Clock::now();
  Quantizer quantizer(float_graph, roles, spec, options);
  THIMBLE_CHECK(quantizer.calibrate(samples, observers));
  report.calibrate_seconds = seconds_since(calibration_start);
  if (options.keep_samples) options.keep_samples(quantizer.samples_needed());

  const auto quality_start = Clock::now();
  report_progress(options.progress, "quantizing");
  std::vector<bool> wide_ops = quantizer.asked();
  THIMBLE_TRY(Variant trial, quantizer.attempt(wide_ops));
  if (options.wide) report.kept_int8 = kept_narrow(float_graph, trial.plan, wide_ops);
  if (options.goal && quantizer.samples() == nullptr) {
    return bad_input("--accuracy needs calibration data: --calibrate DATA.npz");
  }
  const Round round = [&](Variant& variant) -> Result<bool> {
    report.rounding.reset();
    THIMBLE_CHECK(quantizer.simplify(variant, report));
    if (options.int4_candidates && samples) {
      THIMBLE_CHECK(rank_int4(float_graph, variant, *samples, options, report));
    }
    THIMBLE_CHECK(quantizer.adapt(variant, report));
    return report.rounding.has_value();
  };
  if (!options.goal) {
    THIMBLE_CHECK(round(trial));
  } else {
    const Attempt attempt = [&](const std::vector<bool>& ops) { return quantizer.attempt(ops); };
    THIMBLE_TRY(report.goal, reach_goal({float_graph, *quantizer.samples(), *options.goal,
                                         options.threads, attempt, round},
                                        wide_ops, trial));
    if (!report.goal->rounded) report.rounding.reset();
  }
  quantizer.decide(trial);
  quantizer.measure(trial, report);
  for (const Op& op : trial.lowered.graph.ops()) {
    if (trial.lowered.graph.type(op.output).dtype == ir::DType::kI16) ++report.wide_ops;
  }
  if (options.int4) report_int4(float_graph, trial.plan, options, trial.lowered.graph, report);
  report.quality_seconds = seconds_since(quality_start);
  return QuantizedModel{std::move(trial.lowered.graph), std::move(report)};
}

Status observe_method(const ir::Graph& prepared, const CalibrationData& data, const QuantSpec& spec,
                      const QuantizeOptions& options, JointCalibration* joint) {
  assert(!options.tune && !options.equalize && options.joint == nullptr);
  if (is_prequantized(prepared)) {
    return unsupported("PyTorch quantized this model: several methods require float models");
  }
  THIMBLE_TRY(PinnedGraph pinned, pinned_graph(prepared, spec));
  THIMBLE_TRY(const Plan roles,
              plan(pinned.graph, std::move(pinned.pins), preferences_of(spec, options)));
  THIMBLE_TRY(const Samples samples, Samples::check(pinned.graph, data));
  Quantizer quantizer(pinned.graph, roles, spec, options);
  THIMBLE_CHECK(quantizer.calibrate(samples, {}));
  joint->add(pinned.graph, quantizer.seen());
  return ok();
}

Result<std::vector<ir::RefusedNode>> unquantized_nodes(const ir::Graph& prepared,
                                                       const QuantSpec& spec,
                                                       const QuantizeOptions& options) {
  constexpr std::string_view kNotQuantized = "PyTorch's quantizer did not quantize its result";
  std::vector<ir::RefusedNode> nodes;
  if (!is_prequantized(prepared)) {
    for (const Op& op : prepared.ops()) nodes.push_back({op.source, std::string(kNotQuantized)});
    return nodes;
  }
  for (const Op& op : prepared.ops()) {
    if (op.kind == ir::OpKind::lstm)
      nodes.push_back({op.source, "an lstm has float values inside"});
  }
  if (!nodes.empty()) return nodes;
  THIMBLE_TRY(PinnedGraph pinned, pinned_graph(prepared, spec));
  pin_before_activations(pinned);
  const Graph& graph = pinned.graph;
  for (const Op& op : graph.ops()) {
    std::string reason = refusal_reason(graph, op);
    if (!reason.empty()) nodes.push_back({op.source, "no int8 form: " + std::move(reason)});
  }
  if (!nodes.empty()) return nodes;
  THIMBLE_TRY(const Plan roles, plan(graph, std::move(pinned.pins), preferences_of(spec, options)));
  const auto producers = graph.producers();
  for (const ir::ValueId id : Quantizer(graph, roles, spec, options).unknown()) {
    const int producer = producers[static_cast<size_t>(id)];
    ir::Source source;
    source.node = graph.value(id).name;
    if (producer >= 0) source = graph.ops()[static_cast<size_t>(producer)].source;
    nodes.push_back({std::move(source), std::string(kNotQuantized)});
  }
  return nodes;
}

}  // namespace thimble::quant
