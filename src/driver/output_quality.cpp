// SPDX-License-Identifier: Apache-2.0
#include "driver/output_quality.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/size_text.h"
#include "driver/data.h"
#include "driver/tried_options.h"

namespace thimble::driver {
namespace {

bool is_real_output(const quant::QuantReport& report, size_t output) {
  return output < report.output_sqnr_db.size() && !report.output_agreement[output];
}

}  // namespace

bool is_constant_output(const quant::QuantReport& report, size_t output) {
  return is_real_output(report, output) && std::isnan(report.output_sqnr_db[output]);
}

bool is_exact_output(const quant::QuantReport& report, size_t output) {
  return is_real_output(report, output) &&
         report.output_sqnr_db[output] == std::numeric_limits<double>::infinity();
}

bool is_not_finite_output(const quant::QuantReport& report, size_t output) {
  return is_real_output(report, output) &&
         report.output_sqnr_db[output] == -std::numeric_limits<double>::infinity();
}

std::optional<double> output_sqnr_db(const quant::QuantReport& report, size_t output) {
  if (!is_real_output(report, output) || !std::isfinite(report.output_sqnr_db[output])) return {};
  return report.output_sqnr_db[output];
}

std::string of_first_samples(const quant::QuantReport& report) {
  if (report.quality_samples == report.samples) return "";
  return fmt::format(" of the first {} samples:", report.quality_samples);
}

std::optional<double> lowest_sqnr_db(const CompileReport& report) {
  return lowest_sqnr_db(report.quant);
}

std::optional<double> lowest_sqnr_db(const quant::QuantReport& report) {
  std::optional<double> lowest;
  for (size_t i = 0; i < report.output_sqnr_db.size(); ++i) {
    std::optional<double> sqnr_db = output_sqnr_db(report, i);
    if (is_exact_output(report, i) || is_not_finite_output(report, i)) {
      sqnr_db = report.output_sqnr_db[i];
    }
    if (sqnr_db) lowest = std::min(lowest.value_or(*sqnr_db), *sqnr_db);
  }
  return lowest;
}

void warn_of_low_sqnr(CompileReport* report) {
  AccuracyWarning found;
  found.sqnr_db = kWarnSqnrDb;
  for (size_t i = 0; i < report->outputs.size(); ++i) {
    if (is_not_finite_output(report->quant, i)) {
      report->warnings.push_back(
          fmt::format("{}: NaN or infinite in the float model or in the program: check the "
                      "calibration data",
                      report->outputs[i].name));
    }
    const std::optional<double> sqnr_db = output_sqnr_db(report->quant, i);
    if (!sqnr_db || *sqnr_db >= found.sqnr_db) continue;
    found.sqnr_db = *sqnr_db;
    found.output = report->outputs[i].name;
  }
  if (found.output.empty()) return;
  std::string warning = sqnr_warning(found.output, found.sqnr_db);
  if (warning.empty()) {
    warning =
        fmt::format("{}: SQNR {:.1f} dB: `thimble compare --per-layer` shows where it is lost",
                    found.output, found.sqnr_db);
  }
  if (report->quant.largest_loss) {
    const quant::OpQuality& op = report->quant.ops[*report->quant.largest_loss];
    found.op = op.source.target.empty() ? op.op : op.source.target;
    found.source = op.source;
    warning += fmt::format("; {} adds the largest error: {} {}", found.op, op.source.where(),
                           op.source.text);
  }
  const std::vector<quant::TriedOption>& tried = report->quant.tried_options;
  if (const quant::TriedOption* const best = best_option(tried, found.sqnr_db)) {
    found.option = best->text;
    found.option_sqnr_db = best->sqnr_db;
    warning += fmt::format("; `{}` has {:.1f} dB on the calibration data, weights {} B", best->text,
                           best->sqnr_db, with_commas(best->weight_bytes));
  }
  for (const quant::TriedOption& option : tried) {
    if (option.text == found.option) continue;
    warning += fmt::format("; tried: `{}`, {:.1f} dB", option.text, option.sqnr_db);
  }
  report->warnings.push_back(std::move(warning));
  report->accuracy_warning = std::move(found);
}

}  // namespace thimble::driver
