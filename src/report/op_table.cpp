// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "driver/report.h"
#include "ir/dtype_text.h"
#include "report/report_data.h"
#include "report/text.h"

namespace thimble::report {
namespace {

/// A column of numbers; empty columns are not shown.
struct NumberColumn {
  const char* title;
  const char* help;
  std::function<std::optional<double>(size_t row)> value;
  std::function<std::string(double value)> text;
  bool is_cycles = false;  // from cycles: marked in the row of an unmeasured operator
};

std::string whole(double value) {
  return driver::with_commas(static_cast<int64_t>(value));
}

std::optional<double> as_number(const std::optional<int64_t>& value) {
  if (!value) return std::nullopt;
  return static_cast<double>(*value);
}

/// Zero is shown as an empty cell where it means that the operator has none.
std::optional<double> unless_zero(int64_t value) {
  if (value == 0) return std::nullopt;
  return static_cast<double>(value);
}

constexpr const char* kEstimate =
    "an estimate; ~: the operator was not measured, or its estimates are off by more than 10 %";

std::vector<NumberColumn> columns_of(const ReportData& data) {
  const std::vector<driver::OpReport>& ops = data.report.ops;
  const auto decibel = [](double value) { return fmt::format("{:.1f}", value); };
  const auto micros = [](double value) {
    return fmt::format("{:.{}f}", value, value < 100 ? 2 : 0);
  };
  std::vector<NumberColumn> all = {
      {"time, \xC2\xB5s", kEstimate, [&](size_t row) { return ops[row].time_us; }, micros, true},
      {"cycles", kEstimate, [&](size_t row) { return as_number(ops[row].cycles); }, whole, true},
      {"instructions", "an estimate", [&](size_t row) { return as_number(ops[row].instructions); },
       whole},
      {"MACs", "multiply-accumulate operations",
       [&](size_t row) { return unless_zero(ops[row].macs); }, whole},
      {"bytes out", "size of the result",
       [&](size_t row) { return unless_zero(ops[row].bytes_out); }, whole},
      {"constants", "bytes of weights and parameters",
       [&](size_t row) { return unless_zero(ops[row].constant_bytes); }, whole},
      {"arena", "bytes of the arena that are live during the operator",
       [&](size_t row) { return unless_zero(ops[row].live_bytes); }, whole},
      {"SQNR, dB", "error of the integer value against the float value",
       [&](size_t row) { return data.sqnr[row]; }, decibel},
  };
  std::erase_if(all, [&](const NumberColumn& column) {
    for (size_t row = 0; row < ops.size(); ++row) {
      if (column.value(row)) return false;
    }
    return true;
  });
  return all;
}

std::string header(const char* title, const char* help, bool number) {
  return fmt::format("<th scope=\"col\"{} title=\"{}\"><button type=\"button\">{}</button></th>",
                     number ? " class=\"num\"" : "", help, title);
}

}  // namespace

std::string op_table(const ReportData& data) {
  const std::vector<driver::OpReport>& ops = data.report.ops;
  const std::vector<NumberColumn> columns = columns_of(data);
  std::string table = "<table id=\"ops\"><thead><tr>";
  table += header("#", "execution order", true) + header("operator", "operator and result", false) +
           header("engine", "what runs it", false);
  std::vector<double> largest;
  for (const NumberColumn& column : columns) {
    table += header(column.title, column.help, true);
    double most = 0;
    for (size_t row = 0; row < ops.size(); ++row) {
      most = std::max(most, column.value(row).value_or(0));
    }
    largest.push_back(most);
  }
  table += header("source", "line of the model", false) + "</tr></thead>\n<tbody>\n";
  for (size_t row = 0; row < ops.size(); ++row) {
    const driver::OpReport& op = ops[row];
    const std::string name = data.graph.nodes[data.node_of_row[row]].name;
    table += fmt::format(
        "<tr data-r=\"{0}\"><td class=\"num\" data-v=\"{0}\">{1}</td><td><a href=\"#n{2}\" "
        "data-n=\"{2}\" title=\"{3}\">{4}</a> <small>{5}</small></td><td><span class=\"dot "
        "e{6}\"></span>{7}</td>",
        row, row + 1, data.node_of_row[row], escape_html(op.op), escape_html(data.title(row)),
        escape_html(shorten(name, 28)), data.color_of_row(row), escape_html(op.engine));
    for (size_t i = 0; i < columns.size(); ++i) {
      const std::optional<double> value = columns[i].value(row);
      if (!value) {
        table += "<td></td>";
        continue;
      }
      const double share = largest[i] > 0 ? std::max(0.0, 100 * *value / largest[i]) : 0;
      table += fmt::format("<td class=\"num\" style=\"--p:{}%\" data-v=\"{}\">{}</td>",
                           coordinate(share), *value,
                           (columns[i].is_cycles ? data.mark(row) : "") + columns[i].text(*value));
    }
    table += fmt::format("<td class=\"src\" title=\"{}\">{} <code>{}</code></td></tr>\n",
                         escape_html(op.source.text), escape_html(op.source.where()),
                         escape_html(shorten(op.source.text, 90)));
  }
  return table + "</tbody></table>\n";
}

std::string node_data(const ReportData& data) {
  const auto optional = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
  std::vector<std::vector<size_t>> from(data.graph.nodes.size()), to(data.graph.nodes.size());
  for (const GraphEdge& edge : data.graph.edges) {
    from[edge.to].push_back(edge.from);
    to[edge.from].push_back(edge.to);
  }
  Json nodes = Json::array();
  for (size_t i = 0; i < data.graph.nodes.size(); ++i) {
    const GraphNode& node = data.graph.nodes[i];
    Json entry = {{"title", node.title},
                  {"name", node.name},
                  {"shape", shape_text(node.shape)},
                  {"dtype", ir::dtype_text(node.dtype)},
                  {"in", from[i]},
                  {"out", to[i]}};
    if (node.kind == GraphNode::Kind::kOp) {
      const driver::OpReport& op = data.report.ops[node.row];
      entry["title"] = data.title(node.row);
      entry["row"] = node.row;
      entry["result"] = op.name;
      entry["kernel"] = op.op;
      entry["types"] = op.types;
      entry["engine"] = op.engine;
      entry["where"] = op.source.where();
      entry["text"] = op.source.text;
      entry["module"] = op.source.module;
      entry["target"] = op.source.target;
      entry["macs"] = op.macs;
      entry["bytes"] = op.bytes_out;
      entry["constants"] = op.constant_bytes;
      entry["live"] = op.live_bytes;
      entry["mark"] = data.mark(node.row);
      entry["instructions"] = optional(op.instructions);
      entry["cycles"] = optional(op.cycles);
      entry["time_us"] = optional(op.time_us);
      entry["sqnr"] = optional(data.sqnr[node.row]);
      entry["reason"] = op.reason;
    }
    nodes.push_back(std::move(entry));
  }
  return script_json(nodes);
}

}  // namespace thimble::report
