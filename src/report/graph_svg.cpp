// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/layout.h"
#include "report/report_data.h"
#include "report/text.h"

namespace thimble::report {
namespace {

// Widths of a character of a title and of the other texts, for font sizes of 12 and 10 px.
constexpr double kTitleAdvance = kAdvance * 12, kTextAdvance = kAdvance * 10;
constexpr double kLeft = 13, kRight = 8, kHeight = 44;
constexpr double kWidthMin = 120, kWidthMax = 232;
constexpr double kShareShown = 0.005;  // smaller shares of the cost have no text

struct Label {
  std::string title, shape, name, share;
};

double title_width(const Label& label) {
  return kLeft + kRight + kTitleAdvance * static_cast<double>(text_columns(label.title));
}
double first_line_width(const Label& label) {
  if (label.shape.empty()) return title_width(label);
  return title_width(label) + kTextAdvance * static_cast<double>(2 + text_columns(label.shape));
}
double second_line_width(const Label& label) {
  const size_t gap = label.share.empty() ? 0 : 2;
  return kLeft + kRight +
         kTextAdvance *
             static_cast<double>(text_columns(label.name) + gap + text_columns(label.share));
}

/// Shortens a label until it fits into a node of the given width.
void fit(Label& label, double width) {
  if (first_line_width(label) > width) label.shape.clear();
  if (title_width(label) > width) {
    label.title =
        shorten(label.title, static_cast<size_t>((width - kLeft - kRight) / kTitleAdvance));
  }
  if (second_line_width(label) > width) {
    const size_t share = label.share.empty() ? 0 : 2 + text_columns(label.share);
    const auto columns = static_cast<size_t>((width - kLeft - kRight) / kTextAdvance);
    label.name = shorten(label.name, columns - share);
  }
}

std::vector<Label> labels_of(const ReportData& data) {
  std::vector<Label> labels;
  for (const GraphNode& node : data.graph.nodes) {
    Label label{node.title, shape_text(node.shape), node.name, ""};
    if (!node.window.empty()) label.title += " " + node.window;
    if (node.kind == GraphNode::Kind::kOp && data.cost_total > 0) {
      const double share = data.cost[node.row] / data.cost_total;
      if (share >= kShareShown)
        label.share = fmt::format("{}{:.1f}%", data.cost_mark(node.row), 100 * share);
    }
    labels.push_back(std::move(label));
  }
  return labels;
}

/// Returns the path of an edge. Corners between straight lines are rounded.
std::string path_of(const Route& route) {
  constexpr double kRadius = 5;
  const auto straight = [](const Point& a, const Point& b) { return a.x == b.x || a.y == b.y; };
  const auto pair = [](const Point& p) { return coordinate(p.x) + " " + coordinate(p.y); };
  const auto towards = [&](const Point& from, const Point& to) {
    const double length = std::max(std::abs(to.x - from.x) + std::abs(to.y - from.y), 1e-9);
    const double part = std::min(kRadius, length / 2) / length;
    return Point{from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part};
  };
  std::string path = "M" + pair(route[0]);
  for (size_t i = 1; i < route.size(); ++i) {
    const Point &from = route[i - 1], &to = route[i];
    if (!straight(from, to)) {
      const double middle = (from.y + to.y) / 2;
      path += fmt::format("C{} {} {} {} {}", coordinate(from.x), coordinate(middle),
                          coordinate(to.x), coordinate(middle), pair(to));
    } else if (i + 1 < route.size() && straight(to, route[i + 1]) &&
               (from.x == to.x) != (to.x == route[i + 1].x)) {
      path += fmt::format("L{}Q{} {}", pair(towards(to, from)), pair(to),
                          pair(towards(to, route[i + 1])));
    } else {
      path += "L" + pair(to);
    }
  }
  return path;
}

std::string node_svg(const ReportData& data, size_t index, const Label& label, const Point& center,
                     double width) {
  const GraphNode& node = data.graph.nodes[index];
  const bool is_op = node.kind == GraphNode::Kind::kOp;
  std::string svg = fmt::format(
      "<g class=\"node {}\" id=\"n{}\" data-n=\"{}\" transform=\"translate({} {})\">"
      "<title>{} {}</title><rect class=\"box\" width=\"{}\" height=\"{}\" rx=\"6\"/>",
      is_op ? fmt::format("e{}", data.color_of_row(node.row)) : "port", index, index,
      coordinate(center.x - width / 2), coordinate(center.y - kHeight / 2),
      escape_html(is_op ? data.title(node.row) : node.title), escape_html(node.name),
      coordinate(width), kHeight);
  if (is_op)
    svg += fmt::format("<path class=\"strip\" d=\"M6 0h-1a5 5 0 0 0-5 5v{}a5 5 0 0 0 5 5h1z\"/>",
                       kHeight - 10);
  if (is_op && data.cost_max > 0 && data.cost[node.row] > 0) {
    const double length = (width - kLeft - kRight) * data.cost[node.row] / data.cost_max;
    svg +=
        fmt::format("<rect class=\"cost\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"3\" rx=\"1\"/>",
                    kLeft, kHeight - 6, coordinate(std::max(length, 0.6)));
  }
  svg +=
      fmt::format("<text class=\"t\" x=\"{}\" y=\"17\">{}</text>", kLeft, escape_html(label.title));
  if (!label.shape.empty()) {
    svg += fmt::format("<text class=\"r\" x=\"{}\" y=\"17\">{}</text>", coordinate(width - kRight),
                       escape_html(label.shape));
  }
  svg +=
      fmt::format("<text class=\"s\" x=\"{}\" y=\"32\">{}</text>", kLeft, escape_html(label.name));
  if (!label.share.empty()) {
    svg += fmt::format("<text class=\"r\" x=\"{}\" y=\"32\">{}</text>", coordinate(width - kRight),
                       label.share);
  }
  return svg + "</g>\n";
}

}  // namespace

std::string graph_svg(const ReportData& data) {
  std::vector<Label> labels = labels_of(data);
  double width = kWidthMin;
  for (const Label& label : labels) {
    width = std::max({width, first_line_width(label), second_line_width(label)});
  }
  width = std::ceil(std::min(width, kWidthMax));
  for (Label& label : labels) fit(label, width);
  std::vector<LayoutEdge> edges;
  for (const GraphEdge& edge : data.graph.edges) edges.push_back({edge.from, edge.to});
  LayoutOptions options;
  options.node_width = width;
  options.node_height = kHeight;
  const Layout layout = layered_layout(labels.size(), edges, options);
  std::string svg = fmt::format(
      "<svg id=\"graph\" tabindex=\"0\" role=\"group\" aria-label=\"Graph of {0} operators. Arrow "
      "keys pan, plus and minus zoom, 0 shows all, Enter selects, comma and full stop go to the "
      "previous and the next operator.\" viewBox=\"0 0 {1} {2}\" style=\"aspect-ratio:{1}/{2}\">\n"
      "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"9\" "
      "markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0.5L8 4L0 "
      "7.5z\"/></marker></defs>\n",
      data.report.ops.size(), coordinate(layout.width), coordinate(layout.height));
  svg += "<g class=\"edges\">\n";
  for (size_t i = 0; i < edges.size(); ++i) {
    svg += fmt::format("<path data-f=\"{}\" data-t=\"{}\" d=\"{}\"/>\n", edges[i].from, edges[i].to,
                       path_of(layout.routes[i]));
  }
  svg += "</g>\n";
  for (size_t i = 0; i < labels.size(); ++i) {
    svg += node_svg(data, i, labels[i], layout.centers[i], width);
  }
  return svg + "</svg>\n";
}

}  // namespace thimble::report
