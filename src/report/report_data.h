// SPDX-License-Identifier: Apache-2.0
#pragma once
// The data that the parts of a page share, and the parts.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "driver/compile.h"
#include "report/op_graph.h"

namespace thimble::report {

/// The quantity that is the cost of an operator.
enum class CostUnit : uint8_t { kTime, kCycles, kInstructions, kMixed, kMacs };

struct ReportData {
  explicit ReportData(const driver::Compiled& compiled);

  const driver::CompileReport& report;
  OpGraph graph;
  std::vector<std::string> engines;  // the core first
  std::vector<size_t> engine_of;     // per row of report.ops: index into `engines`
  CostUnit cost_unit = CostUnit::kMacs;
  std::vector<double> cost;  // per row; 0 if unknown
  double cost_total = 0, cost_max = 0;
  std::vector<std::optional<double>> sqnr;  // per row, in dB
  std::vector<size_t> node_of_row;          // index into graph.nodes
  size_t peak_row = 0;                      // first row with the most live bytes

  /// Title and window of a row: "conv2d 3x3".
  [[nodiscard]] std::string title(size_t row) const;
  /// "~" for an operator whose cycles are not kMeasured, as in the text report; else empty.
  [[nodiscard]] std::string mark(size_t row) const {
    return report.ops[row].has_measured_cycles() ? "" : "~";
  }
  /// Returns mark() if the cost of an operator is from its cycles, else an empty text.
  [[nodiscard]] std::string cost_mark(size_t row) const;
  /// Number of colors of engines, in page.css (.e0 to .e5) and in model_explorer.cpp.
  static constexpr size_t kColors = 6;
  /// Color of an engine: 0 for the core if there are other engines, else 1. The seventh engine has
  /// the color of the first one.
  [[nodiscard]] size_t color(size_t engine) const;
  [[nodiscard]] size_t color_of_row(size_t row) const { return color(engine_of[row]); }
  /// The engine that runs most of the operators during which the buffer is live.
  [[nodiscard]] size_t engine_of_buffer(const driver::Buffer& buffer) const;
  /// Name of the value, or "scratch of ENGINE".
  [[nodiscard]] std::string buffer_name(const driver::Buffer& buffer) const;
};

/// "time", "cycles", ...
[[nodiscard]] std::string cost_name(CostUnit unit);

// Parts of the page. Each returns HTML.
[[nodiscard]] std::string graph_svg(const ReportData& data);
[[nodiscard]] std::string arena_svg(const ReportData& data);
[[nodiscard]] std::string quality_svg(const ReportData& data);
[[nodiscard]] std::string op_table(const ReportData& data);
/// Data of the nodes for the script, as JSON for a `script` element.
[[nodiscard]] std::string node_data(const ReportData& data);

}  // namespace thimble::report
