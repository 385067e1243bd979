// SPDX-License-Identifier: Apache-2.0
#include "report/report_data.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

namespace thimble::report {
namespace {

/// Returns the unit of the costs: the first one of time, cycles, instructions and MACs that any
/// operator has. Without a clock, an operator may have instructions only. Time is the unit only if
/// the clocks of all engines are known: the clock of an NPU may be known without that of the core.
CostUnit unit_of(const driver::CompileReport& report) {
  bool time = false, no_clock = false, cycles = false, instructions = false;
  for (const driver::OpReport& op : report.ops) {
    time = time || op.time_us;
    no_clock = no_clock || (op.cycles && !op.time_us);
    cycles = cycles || op.cycles;
    instructions = instructions || (op.instructions && !op.cycles);
  }
  if (time && !no_clock) return CostUnit::kTime;
  if (cycles && instructions) return CostUnit::kMixed;
  if (cycles) return CostUnit::kCycles;
  return instructions ? CostUnit::kInstructions : CostUnit::kMacs;
}

/// Returns 0 for an operator whose cost is not known.
double cost_of(const driver::OpReport& op, CostUnit unit) {
  switch (unit) {
    case CostUnit::kTime:
      return op.time_us.value_or(0);
    case CostUnit::kCycles:
    case CostUnit::kInstructions:
    case CostUnit::kMixed:
      return static_cast<double>(op.cycles.value_or(op.instructions.value_or(0)));
    case CostUnit::kMacs:
      break;
  }
  return static_cast<double>(op.macs);
}

}  // namespace

ReportData::ReportData(const driver::Compiled& compiled)
    : report(compiled.report), graph(op_graph(compiled)) {
  engines.emplace_back(compiled.part->cpu->engine);
  cost_unit = unit_of(report);
  sqnr.resize(report.ops.size());
  node_of_row.resize(report.ops.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].kind != GraphNode::Kind::kOp) continue;
    const size_t row = graph.nodes[i].row;
    node_of_row[row] = i;
    // The name that the user knows; an operator that the compiler inserted has a result's name.
    const ir::Source& source = report.ops[row].source;
    if (!source.node.empty()) graph.nodes[i].name = source.node;
  }
  std::map<std::string, size_t> last_row;  // by node of the export
  for (size_t row = 0; row < report.ops.size(); ++row) {
    const driver::OpReport& op = report.ops[row];
    auto engine = std::ranges::find(engines, op.engine);
    if (engine == engines.end()) engine = engines.insert(engine, op.engine);
    engine_of.push_back(static_cast<size_t>(engine - engines.begin()));
    cost.push_back(cost_of(op, cost_unit));
    cost_total += cost.back();
    cost_max = std::max(cost_max, cost.back());
    if (op.live_bytes > report.ops[peak_row].live_bytes) peak_row = row;
    if (!op.source.node.empty()) last_row[op.source.node] = row;
  }
  // The measured value of a node is computed by the last of its calls that has an integer result.
  for (const quant::OpQuality& quality : report.quant.ops) {
    const auto found = last_row.find(quality.source.node);
    if (found == last_row.end()) continue;
    size_t row = found->second;
    const auto is_float = [&](size_t at) {
      return graph.nodes[node_of_row[at]].dtype == ir::DType::kF32;
    };
    while (row > 0 && is_float(row) && report.ops[row - 1].source.node == quality.source.node) {
      --row;
    }
    if (std::isfinite(quality.sqnr_db)) sqnr[row] = quality.sqnr_db;
  }
}

std::string ReportData::title(size_t row) const {
  const GraphNode& node = graph.nodes[node_of_row[row]];
  return node.window.empty() ? node.title : node.title + " " + node.window;
}

std::string ReportData::cost_mark(size_t row) const {
  const bool from_cycles = cost_unit != CostUnit::kMacs && report.ops[row].cycles.has_value();
  return from_cycles ? mark(row) : "";
}

size_t ReportData::color(size_t engine) const {
  return engines.size() == 1 ? 1 : engine % kColors;
}

size_t ReportData::engine_of_buffer(const driver::Buffer& buffer) const {
  std::vector<size_t> rows(engines.size(), 0);
  const size_t last = std::min(static_cast<size_t>(buffer.last) + 1, engine_of.size());
  for (size_t row = static_cast<size_t>(buffer.first); row < last; ++row) ++rows[engine_of[row]];
  return static_cast<size_t>(std::ranges::max_element(rows) - rows.begin());
}

std::string ReportData::buffer_name(const driver::Buffer& buffer) const {
  if (!buffer.name.empty()) return buffer.name;
  return "scratch of " + engines[engine_of_buffer(buffer)];
}

std::string cost_name(CostUnit unit) {
  switch (unit) {
    case CostUnit::kTime:
      return "time";
    case CostUnit::kCycles:
      return "cycles";
    case CostUnit::kInstructions:
      return "instructions";
    case CostUnit::kMixed:
      return "cycles of the NPU, instructions of the core";
    case CostUnit::kMacs:
      break;
  }
  return "MACs";
}

}  // namespace thimble::report
