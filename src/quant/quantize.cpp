#include "quant/quantize.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "quant/assign.h"
#include "quant/calibrate.h"
#include "quant/expose.h"
#include "quant/lower.h"
#include "quant/per_tensor.h"
#include "quant/pins.h"
#include "quant/plan.h"
#include "quant/quality.h"
#include "quant/tune.h"

namespace thimble::quant {
namespace {

using ir::Graph;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void describe_quality(const LoweredGraph& lowered, const Quality& quality, QuantReport& report) {
  report.output_sqnr_db = quality.output_db;
  for (size_t i = 0; i < lowered.counterparts.size(); ++i) {
    const Counterpart& pair = lowered.counterparts[i];
    const ir::Op& op = lowered.graph.ops()[pair.integer_op];
    report.ops.push_back(
        {pair.integer, std::string(ir::op_name(op.kind)), op.source, quality.op_db[i]});
    if (!report.weakest || quality.op_db[i] < report.ops[*report.weakest].sqnr_db) {
      report.weakest = i;
    }
  }
}

/// What calibration saw; nothing without data.
Result<Observations> observe(const Graph& graph, const std::optional<Samples>& samples,
                             const std::vector<ir::ValueId>& observed,
                             const QuantizeOptions& options) {
  if (!samples) {
    return Observations{std::vector<Histogram>(graph.value_count()),
                        std::vector<std::vector<double>>(graph.value_count())};
  }
  const bool bins = options.tune || options.observer == Observer::kPercentile ||
                    options.observer == Observer::kMse;
  const auto detail = bins ? Histogram::Detail::kBins : Histogram::Detail::kExtentOnly;
  return calibrate(graph, *samples, observed, detail, options.threads);
}

/// One line per operator that PyTorch left in float.
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
    lines += fmt::format("\n  {:<14} {}", op.source.where(), op.source.text);
    if (!op.source.module.empty()) lines += fmt::format("   in module {}", op.source.module);
    lines += fmt::format(": {}", op.source.target.empty() ? ir::op_name(op.kind)
                                                          : std::string_view(op.source.target));
  }
  return bad_input(
      "PyTorch's quantizer left these without parameters; calibration data gives them ranges "
      "(--calibrate DATA.npz){}",
      lines);
}

/// The float graph that is quantized, with the parameters that PyTorch gave.
Result<PinnedGraph> pinned_graph(const Graph& graph) {
  if (!is_prequantized(graph)) {
    THIMBLE_TRY(Graph exposed, expose_hidden_ranges(graph));
    return PinnedGraph{std::move(exposed), {}, {}};
  }
  for (const ir::Op& op : graph.ops()) {
    if (op.kind != ir::OpKind::lstm) continue;
    return unsupported("{}: an lstm in a graph that PyTorch quantized: quantize the float model",
                       op.source.where());
  }
  return take_parameters(graph);
}

/// The graph as equalization or trials leave it; `observers` of single values.
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

}  // namespace

Result<QuantizedModel> quantize(const ir::Graph& prepared, const CalibrationData& data,
                                const QuantSpec& spec, const QuantizeOptions& options) {
  // Roles first: an operator without an integer form is reported before any time is spent.
  THIMBLE_TRY(PinnedGraph pinned, pinned_graph(prepared));
  QuantReport report;
  std::map<ir::ValueId, Observer> observers;
  if (options.tune || options.equalize) {
    if (is_prequantized(prepared)) {
      return bad_input("PyTorch quantized this model: there is nothing to tune or to equalize");
    }
    THIMBLE_TRY(const Plan possible, plan(pinned.graph));
    (void)possible;
    THIMBLE_CHECK(prepare_channels(pinned.graph, data, spec, options, observers, report.trials));
  }
  const ir::Graph& float_graph = pinned.graph;
  THIMBLE_TRY(const Plan roles, plan(float_graph, std::move(pinned.pins),
                                     spec.wide_softmax && options.io == Io::kFloat));
  Classes classes(float_graph, roles);
  std::optional<Samples> samples;
  if (data.inputs.empty() && is_prequantized(prepared)) {
    THIMBLE_CHECK(check_known(float_graph, classes.unknown()));
  } else {
    THIMBLE_TRY(samples, Samples::check(float_graph, data));
  }
  report.samples = samples ? samples->count() : 0;

  const auto calibration_start = Clock::now();
  THIMBLE_TRY(Observations seen, observe(float_graph, samples, classes.observed(), options));
  for (const auto& [id, observer] : observers) {
    seen.histograms[static_cast<size_t>(id)].choose(observer);
  }
  Decisions decisions{classes.assign(seen.histograms, options.observer),
                      std::move(seen.channel_means),
                      {},
                      options.single_rounding ? 1 : 0};
  report.calibrate_seconds = seconds_since(calibration_start);

  const auto quality_start = Clock::now();
  THIMBLE_TRY(LoweredGraph lowered, lower(float_graph, roles, decisions, options.io));
  if (samples && spec.linear_weights == LinearWeights::kPerTensorIfClose) {
    THIMBLE_TRY(decisions.per_tensor,
                close_per_tensor_linears(float_graph, roles, decisions, *samples, options.io,
                                         options.threads, spec.per_tensor_tolerance_db));
    report.per_tensor_linears = static_cast<int>(decisions.per_tensor.size());
    if (!decisions.per_tensor.empty()) {
      THIMBLE_TRY(lowered, lower(float_graph, roles, decisions, options.io));
    }
  }
  if (samples && options.quality_samples > 0) {
    const QualityRequest request{std::min(samples->count(), options.quality_samples),
                                 options.threads};
    describe_quality(lowered, measure_quality(float_graph, lowered, *samples, request), report);
  }
  report.quality_seconds = seconds_since(quality_start);
  return QuantizedModel{std::move(lowered.graph), std::move(report)};
}

}  // namespace thimble::quant
