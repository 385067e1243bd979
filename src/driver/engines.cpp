#include "driver/engines.h"

#include <algorithm>

#include "driver/steering.h"

namespace thimble::driver {
namespace {

/// What the rest of the program keeps in RAM beside the arena, at most.
constexpr int64_t kStateReserve = 1024;
constexpr int kBudgetAttempts = 4;

Status compile_all(std::span<const partition::Region> regions,
                   const target::EngineOptions& options, target::Lowered* lowered) {
  lowered->delegates.clear();
  for (const partition::Region& region : regions) {
    const target::EngineUse& use = *region.engine;
    THIMBLE_TRY(target::Delegate delegate, use.engine->compile(region.graph, use, options));
    lowered->delegates.push_back(std::move(delegate));
  }
  return ok();
}

}  // namespace

Result<OffNodes> engine_off(const ir::Graph& imported, const CompileOptions& options) {
  OffNodes off;
  for (const std::string& pattern : options.engine_off) {
    THIMBLE_TRY(const std::vector<size_t> chosen, select_ops(imported, pattern, "--engine-off"));
    for (const size_t index : chosen) {
      off.try_emplace(imported.ops()[index].source.node, "--engine-off " + pattern);
    }
  }
  return off;
}

void note_engine_off(const OffNodes& off, CompileReport* report) {
  for (SourceOpReport& row : report->source_ops) {
    const auto found = off.find(row.source.node);
    if (found == off.end() || row.calls.empty()) continue;
    row.reason = fmt::format("{}: on the CPU, as all of {}", found->second, report->target);
  }
}

Result<partition::Partition> cut(const ir::Graph& graph, const target::Part& part,
                                 const OffNodes& off) {
  if (part.engines.empty()) {
    partition::Partition whole;
    whole.graph = graph;
    return whole;
  }
  std::vector<std::string> keep_off;
  for (const ir::Op& op : graph.ops()) {
    const auto found = off.find(op.source.node);
    keep_off.push_back(found == off.end() ? "" : found->second);
  }
  return partition::partition(graph, part.engines, keep_off);
}

Result<emit::Schedule> compile_regions(std::span<const partition::Region> regions,
                                       std::optional<int64_t> sram_bytes,
                                       target::Lowered* lowered) {
  target::EngineOptions options;
  options.sram_bytes = sram_bytes;
  for (int attempt = 1;; ++attempt) {
    THIMBLE_CHECK(compile_all(regions, options, lowered));
    emit::Schedule schedule = emit::make_schedule(*lowered);
    const bool beside_dram =
        std::ranges::any_of(lowered->delegates, [](const target::Delegate& delegate) {
          return delegate.memory_mode == abi::MemoryMode::kDedicatedSram;
        });
    if (!sram_bytes || regions.empty() || beside_dram || attempt == kBudgetAttempts) {
      return schedule;
    }
    // The budget was the whole SRAM's; what lies beside the regions' scratch comes off.
    const int64_t excess = schedule.placement.peak_bytes + kStateReserve - *sram_bytes;
    if (excess <= 0) return schedule;
    *options.sram_bytes -= excess;
  }
}

void note_engines(const ir::Graph& integer, const partition::Partition& split,
                  std::span<const RowOp> rows, CompileReport* report) {
  std::map<std::string, std::string> reasons;  // by the value that the operator makes
  for (size_t i = 0; i < split.reasons.size(); ++i) {
    reasons[integer.value(integer.ops()[i].output).name] = split.reasons[i];
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string& name = rows[i].graph->value(rows[i].op->output).name;
    const auto found = reasons.find(name);
    if (found == reasons.end() || found->second.empty()) continue;
    report->ops[i].reason = found->second;
    const ir::OpKind kind = rows[i].op->kind;
    if (kind == ir::OpKind::quantize || kind == ir::OpKind::dequantize) continue;
    const ir::Source& source = rows[i].op->source;
    report->fallbacks.push_back({source.node.empty() ? name : source.node, found->second});
  }
}

std::optional<int64_t> sum_cycles(const std::vector<target::Delegate>& delegates) {
  std::optional<int64_t> sum;
  for (const target::Delegate& delegate : delegates) {
    if (!delegate.cycles) return std::nullopt;
    sum = sum.value_or(0) + *delegate.cycles;
  }
  return sum;
}

}  // namespace thimble::driver
