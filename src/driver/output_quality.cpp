#include "driver/output_quality.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "driver/data.h"

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
  return is_real_output(report, output) && std::isinf(report.output_sqnr_db[output]);
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
  std::optional<double> lowest;
  for (size_t i = 0; i < report.outputs.size(); ++i) {
    std::optional<double> sqnr_db = output_sqnr_db(report.quant, i);
    if (is_exact_output(report.quant, i)) sqnr_db = std::numeric_limits<double>::infinity();
    if (sqnr_db) lowest = std::min(lowest.value_or(*sqnr_db), *sqnr_db);
  }
  return lowest;
}

void warn_of_low_sqnr(CompileReport* report) {
  for (size_t i = 0; i < report->outputs.size(); ++i) {
    const std::optional<double> sqnr_db = output_sqnr_db(report->quant, i);
    if (!sqnr_db) continue;
    std::string warning = sqnr_warning(report->outputs[i].name, *sqnr_db);
    if (!warning.empty()) report->warnings.push_back(std::move(warning));
  }
}

}  // namespace thimble::driver
