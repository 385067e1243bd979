// SPDX-License-Identifier: Apache-2.0
// The second stage of compile(): calibration data, and a float graph in a part's arithmetic.

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <span>

#include "driver/data.h"
#include "driver/int4_choice.h"
#include "driver/integer_ranges.h"
#include "driver/stages.h"
#include "ir/op_cost.h"
#include "passes/pipeline.h"
#include "quant/pins.h"

namespace thimble::driver {
namespace {

/// Applies the quantization preferences of the part's engines.
void apply_preferences(const engine::Part& part, quant::QuantSpec* spec) {
  if (!part.recipe.preferences.value_or(true)) return;
  for (const engine::PartNpu& use : part.engines) {
    const engine::QuantPreferences* preferences = use.engine->preferences;
    if (preferences == nullptr) continue;
    if (preferences->linear_per_tensor) spec->linear_weights = quant::LinearWeights::kPerTensor;
    if (preferences->narrow_softmax) spec->wide_softmax = false;
    if (preferences->symmetric_products) spec->symmetric_products = true;
    if (preferences->fixed_sigmoid_scale) spec->sigmoid_scale_from_range = false;
    // Operators are offered to the first engine first, so its names take precedence.
    if (spec->tables.empty()) {
      spec->tables.assign(preferences->tables.begin(), preferences->tables.end());
    }
  }
}

/// Returns the number of samples for the SQNR of the report: all samples of a usual calibration
/// file, and fewer for a large network, so that the measurement takes at most seconds.
int64_t quality_samples(const ir::Graph& graph) {
  constexpr int64_t kWorkMax = 1'000'000'000, kFewest = 3;
  int64_t work = 1;  // of one sample: MACs, or elements of results
  for (const ir::Op& op : graph.ops()) {
    work += std::max(ir::macs_of(graph, op), graph.type(op.output).elements());
  }
  return std::max(kWorkMax / work, kFewest);
}

/// Runs the integer passes. The qualities of values that a pass removed are dropped.
Status run_integer_passes(std::span<const std::string> skipped, quant::QuantizedModel* quantized) {
  const ir::Graph before = quantized->graph;
  for (const passes::Pass& pass : passes::integer_passes()) {
    if (std::ranges::find(skipped, pass.name) != skipped.end()) continue;
    THIMBLE_TRY(quantized->graph, passes::run_pass(pass, quantized->graph));
  }
  quantized->report.macs_without_effect = ir::total_macs(before) - ir::total_macs(quantized->graph);
  std::map<std::string, ir::ValueId> ids;
  for (const ir::Op& op : quantized->graph.ops()) {
    ids[quantized->graph.value(op.output).name] = op.output;
  }
  quant::QuantReport& report = quantized->report;
  std::vector<quant::OpQuality> kept;
  std::optional<size_t> weakest, largest_loss;
  for (size_t i = 0; i < report.ops.size(); ++i) {
    const auto found = ids.find(before.value(report.ops[i].value).name);
    if (found == ids.end()) continue;
    if (report.weakest == i) weakest = kept.size();
    if (report.largest_loss == i) largest_loss = kept.size();
    kept.push_back(report.ops[i]);
    kept.back().value = found->second;
  }
  report.ops = std::move(kept);
  report.weakest = weakest;
  report.largest_loss = largest_loss;
  return ok();
}

Result<quant::QuantizeOptions> quantize_options_of(const FloatModel& model, const Calibration& data,
                                                   const CompileOptions& options,
                                                   const Arithmetic& arithmetic) {
  quant::QuantizeOptions quantize_options;
  quantize_options.io = options.io;
  quantize_options.observer = arithmetic.observer;
  quantize_options.wide = wide_choice(options.quant, arithmetic.wide_activations);
  quantize_options.keep_float = float_choice(options.quant);
  const bool all_int4 =
      options.int4 == Int4Weights::kPerChannel || options.int4 == Int4Weights::kPerGroup;
  quantize_options.int4 = int4_choice(options.quant, all_int4);
  quantize_options.int4_groups = options.int4 == Int4Weights::kPerGroup;
  quantize_options.goal = options.goal;
  if (options.goal && options.goal->metric == quant::Metric::kTop1) {
    if (!data.samples.labels) {
      return bad_input("{}: --accuracy top1 needs an array `labels`, one per sample",
                       options.samples != nullptr ? options.samples->label
                                                  : options.calibration.filename().string());
    }
    quantize_options.goal->labels = *data.samples.labels;
  }
  quantize_options.equalize = arithmetic.equalize;
  quantize_options.tune = arithmetic.tune;
  // Random samples say nothing about the accuracy.
  quantize_options.effort = data.random ? 0 : arithmetic.effort;
  quantize_options.choose_observer = arithmetic.choose_observer;
  quantize_options.progress = options.progress;
  const bool measure = !data.random && options.measure_quality;
  quantize_options.quality_samples = measure ? quality_samples(model.graph) : 0;
  return quantize_options;
}

/// Adds the selection to the operators that the options select. An operator for which --quant
/// requests a precision is no candidate.
void select_int4(const std::vector<QuantChoice>& choices, const Int4Selection& selection,
                 quant::QuantizeOptions* options) {
  if (selection.rank) {
    options->int4_candidates = [choices](const ir::Graph& graph, const ir::Op& op) {
      return !has_choice(choices, graph, op);
    };
  }
  if (selection.results.empty()) return;
  const auto asked = options->int4;
  options->int4 = [asked, results = selection.results](const ir::Graph& graph, const ir::Op& op) {
    return (asked && asked(graph, op)) || results.contains(graph.value(op.output).name);
  };
}

}  // namespace

Result<Calibration> read_calibration(const FloatModel& model, const CompileOptions& options) {
  const bool prequantized = quant::is_prequantized(model.graph) && !model.has_dynamic_quantization;
  Calibration data;
  if (options.keep_float) return data;
  if (options.samples != nullptr) {
    THIMBLE_TRY(data.samples, join_samples(*options.samples, model.graph));
    THIMBLE_CHECK(check_samples(data.samples, model.graph, options.samples->label));
    data.warnings = pixel_questions(data.samples, model.graph);
    return data;
  }
  if (options.calibration == kRandomCalibration) {
    data.random = true;
    if (!prequantized) data.samples = random_samples(model.graph);
    return data;
  }
  if (!options.calibration.empty()) {
    THIMBLE_TRY(data.samples, read_samples(options.calibration, model.graph));
    THIMBLE_CHECK(
        check_samples(data.samples, model.graph, options.calibration.filename().string()));
    data.warnings = pixel_questions(data.samples, model.graph);
    std::ranges::move(wide_integer_warnings(model.graph, data.samples.data),
                      std::back_inserter(data.warnings));
  } else if (model.has_dynamic_quantization) {
    return bad_input(
        "{}: dynamic quantization: the device needs constant scales, which are chosen from "
        "calibration data: --calibrate DATA.npz",
        model.name);
  } else if (!prequantized) {
    return bad_input("{}: a float model needs calibration data: --calibrate DATA.npz", model.name);
  }
  return data;
}

Arithmetic arithmetic_of(const CompileOptions& options, const engine::Part& part) {
  quant::QuantSpec spec;
  // ExecuTorch's linear supports only one multiplier for all channels. Thimble's kernel supports
  // both; a single multiplier needs less memory.
  constexpr double kStockToleranceDb = 0.3, kNativeToleranceDb = 0.2;
  const bool stock = options.dialect != engine::Dialect::kNative;
  spec.linear_weights = quant::LinearWeights::kPerTensorIfClose;
  spec.per_tensor_tolerance_db = stock ? kStockToleranceDb : kNativeToleranceDb;
  spec.wide_softmax = !stock && !options.narrow_softmax;
  spec.own_means = !stock;  // ExecuTorch has no mean kernel
  spec.sigmoid_scale_from_range = !stock;
  // An NPU has its own form of weights. The weights for the DSP extension have pairs of channels in
  // 16-bit words, from which no kernel reads rows.
  spec.tied_tables = !stock && part.engines.empty() && part.cpu->isa != abi::Isa::kDsp;
  apply_preferences(part, &spec);
  return {spec,
          *options.observer,
          *options.equalize,
          *options.tune,
          *options.wide_activations,
          options.effort,
          options.choose_observer};
}

Status observe_model(const FloatModel& model, const Calibration& data,
                     const CompileOptions& options, const Arithmetic& arithmetic,
                     quant::JointCalibration* joint) {
  THIMBLE_TRY(quant::QuantizeOptions quantize_options,
              quantize_options_of(model, data, options, arithmetic));
  quantize_options.effort = 0;  // methods share their weights
  return quant::observe_method(model.graph, data.samples.data, arithmetic.spec, quantize_options,
                               joint);
}

Result<quant::QuantizedModel> quantize_model(const FloatModel& model, const Calibration& data,
                                             const CompileOptions& options,
                                             const Arithmetic& arithmetic,
                                             const QuantizeExtras& extras) {
  if (options.keep_float) return quant::QuantizedModel{model.graph, {}};
  if (options.int4 == Int4Weights::kWithinFlash && extras.int4 == nullptr) {
    return bad_input("--weights auto: only `compile` of a model with one method supports it");
  }
  THIMBLE_TRY(quant::QuantizeOptions quantize_options,
              quantize_options_of(model, data, options, arithmetic));
  quantize_options.joint = extras.joint;
  quantize_options.keep_samples = extras.keep_samples;
  if (extras.int4 != nullptr) select_int4(options.quant, *extras.int4, &quantize_options);
  THIMBLE_TRY(quant::QuantizedModel quantized,
              quant::quantize(model.graph, data.samples.data, arithmetic.spec, quantize_options));
  THIMBLE_CHECK(run_integer_passes(options.skip_passes, &quantized));
  return quantized;
}

}  // namespace thimble::driver
