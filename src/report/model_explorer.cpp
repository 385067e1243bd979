// SPDX-License-Identifier: Apache-2.0
#include "report/model_explorer.h"

#include <algorithm>

#include <fmt/format.h>

#include "ir/dtype_text.h"
#include "report/report_data.h"
#include "report/text.h"

namespace thimble::report {
namespace {

/// Background of the nodes of each engine, the core first; the page has the same colours.
constexpr const char* kBackgrounds[] = {"#fcefdc", "#e5eefb", "#eef0f4",
                                        "#e0f3ec", "#f2e6fa", "#fae4eb"};
constexpr const char* kBorders[] = {"#b8620b", "#2468c9", "#6b7686",
                                    "#17795a", "#8239b3", "#a8264f"};
static_assert(std::size(kBackgrounds) == ReportData::kColors &&
              std::size(kBorders) == ReportData::kColors);

Json pair(std::string_view key, const std::string& value) {
  return {{"key", key}, {"value", value}};
}

/// Module paths are nested layers: "features.3.conv" is "features/3/conv".
std::string layer_of(std::string module) {
  std::ranges::replace(module, '.', '/');
  return module;
}

Json attributes(const ReportData& data, size_t row) {
  const driver::OpReport& op = data.report.ops[row];
  Json list = Json::array();
  const auto add = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) list.push_back(pair(key, value));
  };
  const auto add_number = [&](std::string_view key, const std::optional<int64_t>& value) {
    if (value) add(key, fmt::format("{}", *value));
  };
  add("engine", op.engine);
  add("kernel", op.op);
  add("source", op.source.where());
  add("source text", op.source.text);
  add("operator", op.source.target);
  add("types", op.types);
  if (op.macs > 0) add_number("MACs", op.macs);
  add_number("bytes out", op.bytes_out);
  if (op.constant_bytes > 0) add_number("constant bytes", op.constant_bytes);
  add_number("arena live bytes", op.live_bytes);
  add_number("instructions", op.instructions);
  if (op.cycles) add("cycles", fmt::format("{}{}", data.mark(row), *op.cycles));
  if (op.time_us) add("time, us", fmt::format("{}{:.3f}", data.mark(row), *op.time_us));
  if (data.sqnr[row]) add("SQNR, dB", fmt::format("{:.1f}", *data.sqnr[row]));
  add("reason", op.reason);
  return list;
}

}  // namespace

std::string model_explorer_json(const driver::Compiled& compiled) {
  const ReportData data(compiled);
  std::vector<std::vector<size_t>> operands(data.graph.nodes.size());
  for (const GraphEdge& edge : data.graph.edges) operands[edge.to].push_back(edge.from);
  Json nodes = Json::array();
  for (size_t i = 0; i < data.graph.nodes.size(); ++i) {
    const GraphNode& node = data.graph.nodes[i];
    const bool is_op = node.kind == GraphNode::Kind::kOp;
    Json entry = {{"id", fmt::format("{}", i)},
                  {"label", is_op ? data.title(node.row) : node.title + " " + node.name},
                  {"namespace", is_op ? layer_of(data.report.ops[node.row].source.module) : ""},
                  {"attrs", Json::array()},
                  {"incomingEdges", Json::array()},
                  {"outputsMetadata", Json::array()}};
    if (is_op) {
      entry["attrs"] = attributes(data, node.row);
      const size_t color = data.color_of_row(node.row);
      entry["style"] = {{"backgroundColor", kBackgrounds[color]}, {"borderColor", kBorders[color]}};
    }
    for (size_t k = 0; k < operands[i].size(); ++k) {
      entry["incomingEdges"].push_back({{"sourceNodeId", fmt::format("{}", operands[i][k])},
                                        {"sourceNodeOutputId", "0"},
                                        {"targetNodeInputId", fmt::format("{}", k)}});
    }
    if (node.kind != GraphNode::Kind::kOutput && node.kind != GraphNode::Kind::kNextState) {
      const std::string name = is_op ? data.report.ops[node.row].name : node.name;
      entry["outputsMetadata"].push_back(
          {{"id", "0"},
           {"attrs", Json::array({pair("__tensor_tag", name),
                                  pair("tensor_shape", std::string(ir::dtype_text(node.dtype)) +
                                                           ir::list_text(node.shape))})}});
    }
    nodes.push_back(std::move(entry));
  }
  const driver::CompileReport& report = data.report;
  Json totals = {{"model", report.model},
                 {"target", report.target},
                 {"parameters", fmt::format("{}", report.parameters)},
                 {"file bytes", fmt::format("{}", report.pte_bytes)},
                 {"arena bytes", fmt::format("{}", report.arena_bytes)}};
  if (report.time_us) totals["time, us"] = fmt::format("{:.1f}", *report.time_us);
  if (report.npu_cycles) totals["NPU cycles"] = fmt::format("{}", *report.npu_cycles);
  const Json graph = {{"id", report.model + " on " + report.target},
                      {"nodes", std::move(nodes)},
                      {"groupNodeAttributes", {{"", std::move(totals)}}}};
  const Json collection = {{"label", report.model}, {"graphs", Json::array({graph})}};
  return collection.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace thimble::report
