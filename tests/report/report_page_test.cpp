// SPDX-License-Identifier: Apache-2.0
// The page of a compilation: figures that are known are shown, others have no column and no tile.

#include <gtest/gtest.h>

#include <filesystem>

#include "driver/compile.h"
#include "driver/report.h"
#include "report/model_explorer.h"
#include "report/report.h"
#include "report/report_data.h"
#include "report/text.h"
#include "tests/folders.h"

namespace thimble::report {
namespace {

driver::Compiled compiled_digits(const std::string& target) {
  const std::filesystem::path folder = test::source_folder() / "models/digits_cnn";
  driver::CompileOptions options;
  options.target = target;
  options.calibration = folder / "calibrate.npz";
  Result<driver::Compiled> compiled = driver::compile(folder / "digits_cnn.pt2", options);
  EXPECT_TRUE(compiled) << compiled.error().message;
  return std::move(*compiled);
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// The network without an estimate of its cycles.
driver::Compiled without_cycles() {
  driver::Compiled compiled = compiled_digits("cortex-m4");
  compiled.report.cycles.reset();
  for (driver::OpReport& op : compiled.report.ops) op.cycles.reset();
  return compiled;
}

TEST(ReportPage, figures_that_are_not_known_are_not_shown) {
  const std::string page = html_page(without_cycles(), {"thimble compile", "1.2.3"});
  EXPECT_EQ(count(page, "<h3>time</h3>"), 0U);
  EXPECT_EQ(count(page, "<h3>energy</h3>"), 0U);
  EXPECT_EQ(count(page, ">time, \xC2\xB5s</button>"), 0U);
  EXPECT_EQ(count(page, ">cycles</button>"), 0U);
  EXPECT_EQ(count(page, ">instructions</button>"), 1U);
  EXPECT_EQ(count(page, "Thimble 1.2.3, kernel layout "), 1U);
}

TEST(ReportPage, costs_that_were_not_measured_are_marked) {
  driver::Compiled compiled = compiled_digits("cortex-m4");
  for (driver::OpReport& op : compiled.report.ops) op.cycle_basis = engine::CycleBasis::kMeasured;
  ASSERT_TRUE(compiled.report.ops[0].cycles.has_value());
  EXPECT_EQ(count(html_page(compiled, {"thimble compile", "1.2.3"}), "\">~"), 0U);
  compiled.report.ops[0].cycle_basis = engine::CycleBasis::kAverage;
  const std::string page = html_page(compiled, {"thimble compile", "1.2.3"});
  EXPECT_EQ(count(page, "\">~" + driver::with_commas(*compiled.report.ops[0].cycles) + "</td>"),
            1U);
  EXPECT_EQ(count(page, "\"mark\":\"~\""), 1U);
  EXPECT_EQ(
      count(model_explorer_json(compiled), "~" + std::to_string(*compiled.report.ops[0].cycles)),
      1U);
}

TEST(ReportPage, times_and_cycles) {
  driver::Compiled compiled = compiled_digits("cortex-m4");
  driver::CompileReport& report = compiled.report;
  report.time_us = 1250;
  report.time_error_percent = 15;
  report.cycles = 210'000;
  report.clock_mhz = 168;
  report.energy_uj = 42.5;
  for (size_t row = 0; row < report.ops.size(); ++row) {
    report.ops[row].time_us = 10.0 * static_cast<double>(row + 1);
    report.ops[row].cycles = 1680 * static_cast<int64_t>(row + 1);
  }
  const std::string page = html_page(compiled, {"thimble compile", "1.2.3"});
  EXPECT_EQ(count(page,
                  "<h3>time</h3><b>1.25 ms</b><span>per run, an estimate \xC2\xB1 15 %, at 168 "
                  "MHz</span>"),
            1U);
  EXPECT_EQ(count(page, "<h3>cycles</h3><b>210 k</b>"), 1U);
  EXPECT_EQ(count(page, "<h3>energy</h3><b>42.5 \xC2\xB5J</b>"), 1U);
  EXPECT_EQ(count(page, ">time, \xC2\xB5s</button>"), 1U);
  EXPECT_EQ(count(page, ">cycles</button>"), 1U);
  EXPECT_EQ(count(page, "data-v=\"20\">20.00</td>"), 1U);
  EXPECT_EQ(count(page, "100.0 % of the time"), 1U);
  EXPECT_EQ(count(page, "bar and percentage: time"), 1U);
}

TEST(ReportPage, costs_are_times_where_they_are_known) {
  driver::Compiled compiled = without_cycles();
  EXPECT_EQ(ReportData(compiled).cost_unit, CostUnit::kInstructions);
  compiled.report.ops[1].cycles = 5;
  EXPECT_EQ(ReportData(compiled).cost_unit, CostUnit::kMixed);
  compiled.report.ops[1].time_us = 7.0;
  const ReportData data(compiled);
  EXPECT_EQ(data.cost_unit, CostUnit::kTime);
  EXPECT_EQ(data.cost[1], 7.0);
  EXPECT_EQ(data.cost_total, 7.0);
}

TEST(ReportPage, the_graph_has_a_node_per_row_and_no_cycle) {
  for (const char* target : {"cortex-m4", "corstone-300", "nrf54lm20b"}) {
    const driver::Compiled compiled = compiled_digits(target);
    const OpGraph graph = op_graph(compiled);
    EXPECT_EQ(graph.nodes.size(), compiled.report.ops.size() + 2) << target;
    for (const GraphEdge& edge : graph.edges) EXPECT_LT(edge.from, edge.to) << target;
  }
}

TEST(ReportPage, text_that_is_not_utf8_is_replaced) {
  driver::Compiled compiled = compiled_digits("cortex-m4");
  compiled.report.ops[0].source.node = "bad\xFF<script>";
  compiled.report.ops[0].op = "<i>\x01";
  compiled.report.fallbacks.push_back({"<b>", "\xC3<u>"});
  compiled.report.notes.emplace_back("<s>note");
  compiled.report.model = "<h1>";
  const std::string page = html_page(compiled, {"a <q> \xFE", "<em>"});
  for (const char* tag : {"<b>\"", "<i>", "<u>", "<s>", "<h1></", "<q>", "<em>", "bad\xFF"}) {
    EXPECT_EQ(count(page, tag), 0U) << tag;
  }
  EXPECT_EQ(count(page, "<script"), 2U);
  EXPECT_FALSE(Json::parse(model_explorer_json(compiled), nullptr, false).is_discarded());
}

}  // namespace
}  // namespace thimble::report
