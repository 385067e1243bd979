// SPDX-License-Identifier: Apache-2.0
#include "driver/op_rows.h"

#include <algorithm>
#include <map>

#include "ir/op_cost.h"

namespace thimble::driver {
namespace {

int64_t constant_bytes(const engine::KernelCall& call) {
  int64_t bytes = 0;
  for (const engine::Argument& argument : call.arguments) {
    const auto* constant = std::get_if<engine::Constant>(&argument);
    if (constant != nullptr) bytes += static_cast<int64_t>(constant->bytes->size());
  }
  return bytes;
}

/// Returns the bytes of the constants that this operator of a subgraph reads.
int64_t constant_bytes(const RowOp& row) {
  int64_t bytes = 0;
  for (const ir::ValueId input : row.op->inputs) {
    if (input == ir::kNoValue || !row.graph->value(input).constant) continue;
    bytes += static_cast<int64_t>(row.graph->type(input).bytes());
  }
  return bytes;
}

OpReport region_row(const engine::Delegate& delegate, const RowOp& row) {
  const ir::Type& type = row.graph->type(row.op->output);
  OpReport report;
  report.name = row.graph->value(row.op->output).name;
  report.op = fmt::format("{}::{}", delegate.id,
                          row.delegate_row != nullptr ? row.delegate_row->what : "view");
  report.types = std::string(ir::dtype_name(type.dtype));
  report.engine = delegate.engine;
  report.constant_bytes = constant_bytes(row);
  if (row.delegate_row != nullptr) {
    report.cycles = row.delegate_row->cycles;
    report.reason = row.delegate_row->reason;
  }
  return report;
}

OpReport call_row(const engine::Lowered& lowered, const engine::KernelCall& call,
                  const engine::Core& target) {
  const engine::Cost cost = target.cost(lowered, call, target);
  OpReport report;
  report.name = lowered.graph.value(call.out).name;
  report.op = engine::call_name(lowered, call);
  report.types = engine::call_types(lowered, call);
  report.engine = std::string(target.engine);
  report.terms = cost.terms;
  report.constant_bytes = constant_bytes(call);
  report.instructions = cost.instructions;
  report.cycles = cost.cycles;
  report.cycle_basis = cost.cycle_basis;
  return report;
}

void report_buffers(const engine::Lowered& lowered, const memory::MemoryPlan& memory_plan,
                    std::span<const RowOp> rows, CompileReport* report) {
  std::vector<int> first(lowered.calls.size() + 1, static_cast<int>(rows.size()));
  std::vector<int> last(lowered.calls.size() + 1, static_cast<int>(rows.size()));
  for (size_t i = rows.size(); i-- > 0;) first[rows[i].call] = static_cast<int>(i);
  for (size_t i = 0; i < rows.size(); ++i) last[rows[i].call] = static_cast<int>(i);
  for (size_t i = 0; i < memory_plan.ranges.size(); ++i) {
    const memory::ArenaRange& range = memory_plan.ranges[i];
    if (range.buffer.bytes == 0) continue;
    const bool scratch = range.value == ir::kNoValue;
    report->buffers.push_back({scratch ? "" : lowered.graph.value(range.value).name,
                               memory_plan.placement.offsets[i], range.buffer.bytes,
                               first[static_cast<size_t>(range.buffer.life.first)],
                               last[static_cast<size_t>(range.buffer.life.last)]});
  }
}

}  // namespace

std::vector<RowOp> row_ops(const engine::Lowered& lowered,
                           std::span<const partition::Subgraph> subgraphs) {
  std::vector<RowOp> rows;
  for (size_t call = 0; call < lowered.calls.size(); ++call) {
    const engine::KernelCall& kernel = lowered.calls[call];
    if (kernel.delegate < 0) {
      rows.push_back(
          {&lowered.graph, &lowered.graph.ops()[static_cast<size_t>(kernel.ir_op)], call, nullptr});
      continue;
    }
    const engine::Delegate& delegate = lowered.delegates[static_cast<size_t>(kernel.delegate)];
    std::map<int, const engine::DelegateRow*> known;
    for (const engine::DelegateRow& row : delegate.rows) known[row.ir_op] = &row;
    const ir::Graph& subgraph = subgraphs[static_cast<size_t>(kernel.delegate)].graph;
    for (size_t i = 0; i < subgraph.ops().size(); ++i) {
      const auto found = known.find(static_cast<int>(i));
      rows.push_back(
          {&subgraph, &subgraph.ops()[i], call, found == known.end() ? nullptr : found->second});
    }
  }
  return rows;
}

void report_ops(const engine::Lowered& lowered, const memory::MemoryPlan& memory_plan,
                const engine::Core& target, std::span<const RowOp> rows, CompileReport* report) {
  for (const RowOp& row : rows) {
    const engine::KernelCall& call = lowered.calls[row.call];
    OpReport entry = call.delegate < 0
                         ? call_row(lowered, call, target)
                         : region_row(lowered.delegates[static_cast<size_t>(call.delegate)], row);
    const ir::Type& type = row.graph->type(row.op->output);
    entry.source = row.op->source;
    entry.macs = ir::macs_of(*row.graph, *row.op);
    entry.elements_out = type.elements();
    entry.bytes_out = static_cast<int64_t>(type.bytes());
    entry.live_bytes = memory::live_bytes(memory_plan, row.call);
    report->ops.push_back(std::move(entry));
  }
  report_buffers(lowered, memory_plan, rows, report);
}

Peak find_peak(const engine::Lowered& lowered, const memory::MemoryPlan& memory_plan) {
  Peak peak;
  for (size_t step = 0; step < lowered.calls.size(); ++step) {
    const int64_t live = memory::live_bytes(memory_plan, step);
    if (live <= peak.bytes) continue;
    const engine::KernelCall& call = lowered.calls[step];
    peak.bytes = live;
    peak.op = engine::call_name(lowered, call);
    peak.source = lowered.graph.ops()[static_cast<size_t>(call.ir_op)].source;
  }
  return peak;
}

}  // namespace thimble::driver
