#include "driver/output_quality.h"

#include <algorithm>

#include "driver/data.h"

namespace thimble::driver {
namespace {

/// An output without signal has a lower SQNR, or none (NaN) if it has no error either.
constexpr double kNoSignalDb = -100;

}  // namespace

bool is_constant_output(const quant::QuantReport& report, size_t output) {
  return output < report.output_sqnr_db.size() && !report.output_agreement[output] &&
         !(report.output_sqnr_db[output] > kNoSignalDb);
}

std::optional<double> output_sqnr_db(const quant::QuantReport& report, size_t output) {
  if (output >= report.output_sqnr_db.size() || report.output_agreement[output]) return {};
  if (is_constant_output(report, output)) return {};
  return report.output_sqnr_db[output];
}

std::optional<double> lowest_sqnr_db(const CompileReport& report) {
  std::optional<double> lowest;
  for (size_t i = 0; i < report.outputs.size(); ++i) {
    const std::optional<double> sqnr_db = output_sqnr_db(report.quant, i);
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
