// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/report_data.h"
#include "report/text.h"

namespace thimble::report {
namespace {

constexpr double kChartLeft = 48, kChartTop = 24, kChartWidth = 1106, kChartHeight = 170;
constexpr double kChartRight = kChartLeft + kChartWidth, kChartBottom = kChartTop + kChartHeight;
constexpr double kLabelSize = 11;   // font size in px
constexpr double kShownMaxDb = 60;  // height of the bar of a value without an error

/// The colour of a bar: below 10 dB the value is mostly noise.
const char* grade(double sqnr_db) {
  if (sqnr_db < 10) return "bad";
  return sqnr_db < 20 ? "fair" : "good";
}

}  // namespace

std::string quality_svg(const ReportData& data) {
  const std::vector<quant::OpQuality>& ops = data.report.quant.ops;
  if (ops.empty()) return "";
  double low = 0, high = 20;
  for (const quant::OpQuality& op : ops) {
    if (!std::isfinite(op.sqnr_db)) continue;
    low = std::max(std::min(low, op.sqnr_db), -20.0);
    high = std::min(std::max(high, op.sqnr_db), kShownMaxDb);
  }
  low = std::floor(low / 10) * 10;
  high = std::ceil(high / 10) * 10;
  const auto y = [&](double db) {
    return kChartBottom - kChartHeight * (std::clamp(db, low, high) - low) / (high - low);
  };
  std::string svg = fmt::format(
      "<svg id=\"quality\" class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" "
      "aria-label=\"SQNR of each layer in dB\">\n",
      kChartRight + 14, kChartBottom + 24);
  for (double db = low; db <= high; db += 10) {
    svg += fmt::format(
        "<path class=\"grid\" d=\"M{} {}H{}\"/><text class=\"end\" x=\"{}\" "
        "y=\"{}\">{:.0f}</text>\n",
        kChartLeft, coordinate(y(db)), kChartRight, kChartLeft - 8, coordinate(y(db) + 4), db);
  }
  const double step = kChartWidth / static_cast<double>(ops.size());
  const double width = std::min(step * 0.72, 26.0);
  for (size_t i = 0; i < ops.size(); ++i) {
    const quant::OpQuality& op = ops[i];
    if (std::isnan(op.sqnr_db)) continue;  // the float value is constant
    const double value = op.sqnr_db;
    const double top = std::min(y(value), y(0)), bottom = std::max(y(value), y(0));
    svg += fmt::format(
        "<rect class=\"{}\" data-node=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" "
        "height=\"{}\"><title>{}  {} {}  {}  {}</title></rect>\n",
        grade(value), escape_html(op.source.node),
        coordinate(kChartLeft + step * (static_cast<double>(i) + 0.5) - width / 2), coordinate(top),
        coordinate(width), coordinate(std::max(bottom - top, 1.0)),
        std::isinf(value) ? (value > 0 ? "no error" : "not finite")
                          : fmt::format("{:.1f} dB", value),
        escape_html(op.op), escape_html(op.source.node), escape_html(op.source.where()),
        escape_html(op.source.text));
  }
  if (data.report.quant.weakest) {
    const size_t index = *data.report.quant.weakest;
    const quant::OpQuality& op = ops[index];
    const std::string text =
        fmt::format("weakest {:.1f} dB: {}", op.sqnr_db, shorten(op.source.node, 40));
    const double half = kAdvance * kLabelSize * static_cast<double>(text_columns(text)) / 2;
    const double at = kChartLeft + step * (static_cast<double>(index) + 0.5);
    svg += fmt::format(
        "<path class=\"weakest\" d=\"M{} {}V{}\"/><text class=\"mid peaktext\" x=\"{}\" "
        "y=\"{}\">{}</text>\n",
        coordinate(at), kChartTop - 8, coordinate(y(op.sqnr_db) - 2),
        coordinate(
            std::clamp(at, kChartLeft + half, std::max(kChartLeft + half, kChartRight - half))),
        kChartTop - 12, escape_html(text));
  }
  svg += fmt::format("<text class=\"mid\" x=\"{}\" y=\"{}\">layers in execution order, dB</text>\n",
                     (kChartLeft + kChartRight) / 2, kChartBottom + 18);
  return svg + "</svg>\n";
}

}  // namespace thimble::report
