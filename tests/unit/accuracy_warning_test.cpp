// SPDX-License-Identifier: Apache-2.0
// The warning of a low SQNR on the calibration data.

#include <gtest/gtest.h>

#include "driver/output_quality.h"
#include "driver/report.h"

namespace thimble::test {
namespace {

driver::CompileReport report_with(std::vector<double> sqnr_db) {
  driver::CompileReport report;
  for (size_t i = 0; i < sqnr_db.size(); ++i) {
    report.outputs.emplace_back();
    report.outputs.back().name = "y" + std::to_string(i);
    report.quant.output_agreement.emplace_back();
  }
  report.quant.output_sqnr_db = std::move(sqnr_db);
  quant::OpQuality op;
  op.op = "qlstm";
  op.source.file = "net.py";
  op.source.line = 7;
  report.quant.ops.push_back(op);
  report.quant.largest_loss = 0;
  return report;
}

TEST(AccuracyWarning, NamesTheOutputAndTheOperator) {
  driver::CompileReport report = report_with({40, 7.5});
  driver::warn_of_low_sqnr(&report);
  ASSERT_TRUE(report.accuracy_warning.has_value());
  EXPECT_EQ(report.accuracy_warning->output, "y1");
  EXPECT_EQ(report.accuracy_warning->op, "qlstm");
  ASSERT_EQ(report.warnings.size(), 1U);
  EXPECT_NE(report.warnings[0].find("y1: SQNR 7.5 dB"), std::string::npos) << report.warnings[0];
  EXPECT_NE(report.warnings[0].find("net.py:7"), std::string::npos) << report.warnings[0];
  const std::string json = driver::json_report(report);
  EXPECT_NE(json.find("\"accuracy_warning\""), std::string::npos);
  EXPECT_NE(json.find("\"operator\": \"qlstm\""), std::string::npos);
}

TEST(AccuracyWarning, AbsentAboveTheLimit) {
  driver::CompileReport report = report_with({10, 12});
  driver::warn_of_low_sqnr(&report);
  EXPECT_FALSE(report.accuracy_warning.has_value());
  EXPECT_TRUE(report.warnings.empty());
  EXPECT_EQ(driver::json_report(report).find("\"accuracy_warning\""), std::string::npos);
}

}  // namespace
}  // namespace thimble::test
