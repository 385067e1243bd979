#include "quant/quantize.h"

#include <algorithm>
#include <chrono>

#include "quant/assign.h"
#include "quant/calibrate.h"
#include "quant/expose.h"
#include "quant/lower.h"
#include "quant/per_tensor.h"
#include "quant/plan.h"
#include "quant/quality.h"

namespace thimble::quant {
namespace {

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

}  // namespace

Result<QuantizedModel> quantize(const ir::Graph& prepared, const CalibrationData& data,
                                const QuantSpec& spec, const QuantizeOptions& options) {
  THIMBLE_TRY(const ir::Graph float_graph, expose_hidden_ranges(prepared));
  // Roles first: an operator without an integer form is reported before any time is spent.
  THIMBLE_TRY(const Plan roles, plan(float_graph));
  THIMBLE_TRY(const Samples samples, Samples::check(float_graph, data));
  QuantReport report;
  report.samples = samples.count();

  const auto calibration_start = Clock::now();
  Classes classes(float_graph, roles);
  const auto detail = options.observer == Observer::kMinMax ? Histogram::Detail::kExtentOnly
                                                            : Histogram::Detail::kBins;
  THIMBLE_TRY(Observations seen,
              calibrate(float_graph, samples, classes.observed(), detail, options.threads));
  Decisions decisions{
      classes.assign(seen.histograms, options.observer), std::move(seen.channel_means), {}};
  report.calibrate_seconds = seconds_since(calibration_start);

  const auto quality_start = Clock::now();
  THIMBLE_TRY(LoweredGraph lowered, lower(float_graph, roles, decisions, options.io));
  if (spec.linear_weights == LinearWeights::kPerTensorIfClose) {
    THIMBLE_TRY(decisions.per_tensor,
                close_per_tensor_linears(float_graph, roles, decisions, samples, options.io,
                                         options.threads, spec.per_tensor_tolerance_db));
    report.per_tensor_linears = static_cast<int>(decisions.per_tensor.size());
    if (!decisions.per_tensor.empty()) {
      THIMBLE_TRY(lowered, lower(float_graph, roles, decisions, options.io));
    }
  }
  if (options.quality_samples > 0) {
    const QualityRequest request{std::min(samples.count(), options.quality_samples),
                                 options.threads};
    describe_quality(lowered, measure_quality(float_graph, lowered, samples, request), report);
  }
  report.quality_seconds = seconds_since(quality_start);
  return QuantizedModel{std::move(lowered.graph), std::move(report)};
}

}  // namespace thimble::quant
