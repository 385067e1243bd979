// SPDX-License-Identifier: Apache-2.0
#include "driver/tried_options.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/cancel.h"
#include "driver/output_quality.h"

namespace thimble::driver {
namespace {

/// Number of operators or modules that become float32 in one trial.
constexpr int kFloatRounds = 3;

int64_t constant_bytes(const ir::Graph& graph) {
  int64_t bytes = 0;
  for (size_t i = 0; i < graph.value_count(); ++i) {
    const auto& constant = graph.value(static_cast<ir::ValueId>(i)).constant;
    if (constant) bytes += static_cast<int64_t>(constant->bytes.size());
  }
  return bytes;
}

class Trials {
 public:
  explicit Trials(const TrialModel& trial) : t_(trial) {}

  Status run(const quant::QuantizedModel& quantized) {
    const bool wide = *t_.options.wide_activations;
    const bool native = t_.options.dialect == engine::Dialect::kNative;
    if (native && !wide) THIMBLE_CHECK(attempt(t_.options.quant, true));
    if (done() || !native || (!t_.part.cpu->has_fpu() && !t_.options.soft_float)) return ok();
    THIMBLE_CHECK(add_float(quantized, wide));
    if (!done() && !wide && !float_first_.empty()) THIMBLE_CHECK(attempt(float_first_, true));
    return ok();
  }

  std::vector<quant::TriedOption> tried;

 private:
  [[nodiscard]] bool done() const {
    return std::ranges::any_of(
        tried, [](const quant::TriedOption& option) { return option.sqnr_db >= kGoodSqnrDb; });
  }

  /// Keeps more operators in float32 from trial to trial, those with the largest noise first.
  Status add_float(const quant::QuantizedModel& quantized, bool wide) {
    std::vector<QuantChoice> choices = t_.options.quant;
    std::set<std::string> selected;
    quant::QuantReport report = quantized.report;
    for (int round = 0; round < kFloatRounds && report.largest_loss && !done(); ++round) {
      const quant::OpQuality& op = report.ops[*report.largest_loss];
      const std::string pattern = pattern_of(op, last_graph_ ? *last_graph_ : quantized.graph);
      if (pattern.empty() || !selected.insert(pattern).second) return ok();
      choices.push_back({pattern, Precision::kFloat});
      if (round == 0) float_first_ = choices;
      THIMBLE_CHECK(attempt(choices, wide));
      report = last_report_;
    }
    return ok();
  }

  /// Returns the module of the operator, or its node if it is in no module. The selectors match
  /// operators of the float graph.
  [[nodiscard]] std::string pattern_of(const quant::OpQuality& op, const ir::Graph& integer) const {
    std::string pattern = op.source.module;
    if (pattern.empty()) {
      pattern = integer.value(op.value).name;
      constexpr std::string_view kSuffix = "_int8";  // of the quantized value of an output
      if (pattern.ends_with(kSuffix)) pattern.resize(pattern.size() - kSuffix.size());
    }
    return matches(t_.model.graph, pattern).empty() ? "" : pattern;
  }

  Status attempt(const std::vector<QuantChoice>& choices, bool wide) {
    THIMBLE_CHECK(check_cancelled());
    CompileOptions options = t_.options;
    options.quant = choices;
    options.wide_activations = wide;
    std::string text = wide && !*t_.options.wide_activations ? "--activations int16" : "";
    for (size_t i = t_.options.quant.size(); i < choices.size(); ++i) {
      text += fmt::format("{}--quant {}=float", text.empty() ? "" : " ", choices[i].pattern);
    }
    report_progress(options.progress, "trying " + text);
    THIMBLE_TRY(const quant::QuantizedModel quantized,
                quantize_model(t_.model, t_.data, options, arithmetic_of(options, t_.part)));
    last_report_ = quantized.report;
    last_graph_ = quantized.graph;
    const std::optional<double> sqnr_db = lowest_sqnr_db(quantized.report);
    if (sqnr_db) tried.push_back({text, *sqnr_db, constant_bytes(quantized.graph)});
    return ok();
  }

  const TrialModel& t_;
  std::vector<QuantChoice> float_first_;
  quant::QuantReport last_report_;
  std::optional<ir::Graph> last_graph_;
};

}  // namespace

Result<std::vector<quant::TriedOption>> try_options(const TrialModel& trial,
                                                    const quant::QuantizedModel& quantized) {
  Trials trials(trial);
  THIMBLE_CHECK(trials.run(quantized));
  return std::move(trials.tried);
}

const quant::TriedOption* best_option(const std::vector<quant::TriedOption>& tried,
                                      double sqnr_db) {
  const auto best = std::ranges::max_element(tried, {}, &quant::TriedOption::sqnr_db);
  if (best == tried.end() || best->sqnr_db < sqnr_db + kGainDb) return nullptr;
  return &*best;
}

}  // namespace thimble::driver
