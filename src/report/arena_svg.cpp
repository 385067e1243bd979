// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "driver/report.h"
#include "report/report_data.h"
#include "report/text.h"

namespace thimble::report {
namespace {

constexpr double kPlotLeft = 74, kPlotTop = 30, kPlotWidth = 1080, kPlotHeight = 300;
constexpr double kPlotRight = kPlotLeft + kPlotWidth, kPlotBottom = kPlotTop + kPlotHeight;
constexpr double kCharacter = kAdvance * 11;  // width of a character of a label of 11 px

/// Returns the power of two that gives four to eight ticks.
int64_t tick_step(int64_t bytes) {
  int64_t step = 1;
  while (bytes / step > 7) step *= 2;
  return step;
}

class Arena {
 public:
  explicit Arena(const ReportData& data) : data_(data) {
    for (const driver::Buffer& buffer : data.report.buffers) {
      top_ = std::max(top_, buffer.offset + buffer.bytes);
    }
    columns_ = std::max<size_t>(data.report.ops.size(), 1);
  }

  std::string draw() const {
    std::string svg = fmt::format(
        "<svg id=\"arena\" class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Memory "
        "of the arena by operator\">\n",
        kPlotRight + 14, kPlotBottom + 36);
    svg += axes();
    for (const driver::Buffer& buffer : data_.report.buffers) svg += rectangle(buffer);
    svg += names();
    return svg + lower_bound() + peak() + "</svg>\n";
  }

 private:
  [[nodiscard]] double x(double row) const {
    return kPlotLeft + kPlotWidth * row / static_cast<double>(columns_);
  }
  [[nodiscard]] double y(int64_t bytes) const {
    return kPlotBottom - kPlotHeight * static_cast<double>(bytes) /
                             static_cast<double>(std::max<int64_t>(top_, 1));
  }

  [[nodiscard]] std::string axes() const {
    std::string svg;
    const int64_t step = tick_step(top_);
    for (int64_t bytes = 0; bytes <= top_; bytes += step) {
      svg += fmt::format(
          "<path class=\"grid\" d=\"M{0} {1}H{2}\"/><text class=\"end\" x=\"{3}\" "
          "y=\"{4}\">{5}</text>\n",
          kPlotLeft, coordinate(y(bytes)), kPlotRight, kPlotLeft - 8, coordinate(y(bytes) + 4),
          short_bytes(bytes));
    }
    const size_t every = std::max<size_t>(1, (columns_ + 11) / 12);
    for (size_t row = 0; row < columns_; row += every) {
      svg += fmt::format("<text class=\"mid\" x=\"{}\" y=\"{}\">{}</text>\n",
                         coordinate(x(static_cast<double>(row) + 0.5)), kPlotBottom + 15, row + 1);
    }
    return svg + fmt::format(
                     "<text class=\"mid\" x=\"{}\" y=\"{}\">operators in execution order</text>\n",
                     coordinate((kPlotLeft + kPlotRight) / 2), kPlotBottom + 31);
  }

  struct Box {
    double left, top, width, height;
    size_t row;  // the first operator
  };
  [[nodiscard]] Box box_of(const driver::Buffer& buffer) const {
    const auto last = static_cast<double>(std::min(buffer.last + 1, static_cast<int>(columns_)));
    const auto first = std::min(static_cast<double>(buffer.first), last - 1);
    const double top = y(buffer.offset + buffer.bytes);
    return {x(first), top, x(last) - x(first), y(buffer.offset) - top, static_cast<size_t>(first)};
  }

  [[nodiscard]] std::string rectangle(const driver::Buffer& buffer) const {
    const auto [left, top, width, height, row] = box_of(buffer);
    const bool scratch = buffer.name.empty();
    const size_t color = data_.engine_of.empty() ? 0 : data_.color(data_.engine_of_buffer(buffer));
    const std::string name = data_.buffer_name(buffer);
    std::string svg = fmt::format(
        "<g class=\"buffer e{}{}\" data-r=\"{}\"><title>{}: {} B at byte {}, operators {} to "
        "{}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
        color, scratch ? " scratch" : "", row, escape_html(name), driver::with_commas(buffer.bytes),
        driver::with_commas(buffer.offset), buffer.first + 1,
        std::min(buffer.last + 1, static_cast<int>(columns_)), coordinate(left), coordinate(top),
        coordinate(std::max(width - 0.6, 0.8)), coordinate(std::max(height - 0.6, 0.6)));
    return svg + "</g>\n";
  }

  /// Names of the buffers that are large enough. Buffers may overlap; their names must not.
  [[nodiscard]] std::string names() const {
    constexpr double kTextHeight = 14;
    std::string svg;
    std::vector<Box> taken;
    for (const driver::Buffer& buffer : data_.report.buffers) {
      const Box box = box_of(buffer);
      const std::string name = data_.buffer_name(buffer);
      const double width = kCharacter * static_cast<double>(text_columns(name)) + 4;
      if (width > box.width || box.height < kTextHeight) continue;
      const double middle = box.left + box.width / 2, center = box.top + box.height / 2;
      const Box text{middle - width / 2, center - kTextHeight / 2, width, kTextHeight, box.row};
      const bool collides = std::ranges::any_of(taken, [&](const Box& other) {
        return text.left < other.left + other.width && other.left < text.left + text.width &&
               text.top < other.top + other.height && other.top < text.top + text.height;
      });
      if (collides) continue;
      taken.push_back(text);
      svg += fmt::format("<text class=\"mid name\" x=\"{}\" y=\"{}\">{}</text>\n",
                         coordinate(middle), coordinate(center + 4), escape_html(name));
    }
    return svg;
  }

  [[nodiscard]] std::string lower_bound() const {
    const int64_t bound = data_.report.arena_lower_bound_bytes;
    if (bound <= 0 || bound >= data_.report.arena_bytes) return "";
    return fmt::format("<path class=\"bound\" d=\"M{} {}H{}\"/>", kPlotLeft, coordinate(y(bound)),
                       kPlotRight);
  }

  /// Marks the operator with the most live bytes. The label is inside the picture on both ends.
  [[nodiscard]] std::string peak() const {
    if (data_.report.ops.empty()) return "";
    const auto row = static_cast<double>(data_.peak_row);
    const double left = x(row), width = std::max(x(row + 1) - left, 1.0);
    const std::string text = fmt::format(
        "peak {}: operator {}, {}", short_bytes(data_.report.ops[data_.peak_row].live_bytes),
        data_.peak_row + 1, shorten(data_.title(data_.peak_row), 30));
    const double half = kCharacter * static_cast<double>(text_columns(text)) / 2;
    const double middle = std::clamp(left + width / 2, kPlotLeft + half,
                                     std::max(kPlotRight - half, kPlotLeft + half));
    return fmt::format(
        "<rect class=\"peak\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/><text class=\"mid "
        "peaktext\" x=\"{}\" y=\"{}\">{}</text>\n",
        coordinate(left), kPlotTop - 8, coordinate(width), kPlotHeight + 8, coordinate(middle),
        kPlotTop - 14, escape_html(text));
  }

  const ReportData& data_;
  int64_t top_ = 0;
  size_t columns_ = 1;
};

}  // namespace

std::string arena_svg(const ReportData& data) {
  return Arena(data).draw();
}

}  // namespace thimble::report
