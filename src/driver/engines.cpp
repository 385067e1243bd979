// SPDX-License-Identifier: Apache-2.0
#include "driver/engines.h"

#include <algorithm>
#include <set>

#include "base/cancel.h"
#include "base/size_text.h"
#include "driver/does_not_fit.h"
#include "driver/op_selectors.h"
#include "ir/views.h"
#include "memory/shared_arena.h"

namespace thimble::driver {
namespace {

constexpr int kBudgetAttempts = 4;

/// Returns the value at the start of the chain of aliases that ends in this value.
ir::ValueId source_of(const ir::Graph& graph, ir::ValueId id) {
  const std::vector<int> producers = graph.producers();
  for (;;) {
    const int producer = producers[static_cast<size_t>(id)];
    if (producer < 0) return id;
    const ir::Op& op = graph.ops()[static_cast<size_t>(producer)];
    if (!ir::is_alias(graph, op)) return id;
    id = op.inputs[0];
  }
}

/// Arguments of the call that runs a subgraph which are inputs or states of the whole graph.
std::vector<size_t> read_only_inputs(const engine::Lowered& lowered, int delegate) {
  std::vector<size_t> kept;
  for (const engine::KernelCall& call : lowered.calls) {
    if (call.delegate != delegate) continue;
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      const auto* value = std::get_if<engine::ValueRef>(&call.arguments[i]);
      if (value == nullptr) continue;
      const ir::ValueId source = source_of(lowered.graph, value->id);
      if (lowered.graph.is_input(source) || lowered.graph.is_state(source)) kept.push_back(i);
    }
    break;
  }
  return kept;
}

Status compile_all(std::span<const partition::Subgraph> subgraphs,
                   const engine::NpuOptions& options, engine::Lowered* lowered,
                   const ProgressFunction& progress) {
  lowered->delegates.clear();
  for (const partition::Subgraph& subgraph : subgraphs) {
    THIMBLE_CHECK(check_cancelled());
    const engine::PartNpu& use = *subgraph.engine;
    engine::NpuOptions own = options;
    own.states = subgraph.states;
    report_progress(progress, fmt::format("compiling for {}", use.name),
                    static_cast<int64_t>(lowered->delegates.size()),
                    static_cast<int64_t>(subgraphs.size()));
    own.read_only_inputs = read_only_inputs(*lowered, static_cast<int>(lowered->delegates.size()));
    THIMBLE_TRY(engine::Delegate delegate, use.engine->compile(subgraph.graph, use, own));
    if (use.engine->compile_with_vendor_tools != nullptr) {
      THIMBLE_CHECK(use.engine->compile_with_vendor_tools(options.vendor, delegate));
    }
    lowered->delegates.push_back(std::move(delegate));
  }
  return ok();
}

/// Compiles the subgraphs with the smallest SRAM they support. If this does not fit either, the
/// error states the minimum.
Result<memory::MemoryPlan> smallest(std::span<const partition::Subgraph> subgraphs,
                                    int64_t sram_bytes, const Error& refusal,
                                    engine::NpuOptions options, engine::Lowered* lowered,
                                    const ProgressFunction& progress) {
  int64_t scratch = 0;
  for (const partition::Subgraph& subgraph : subgraphs) {
    const engine::PartNpu& use = *subgraph.engine;
    if (use.engine->pareto == nullptr) return refusal;
    THIMBLE_TRY(const auto points, use.engine->pareto(subgraph.graph, use));
    if (points.empty()) return refusal;
    scratch = std::max(scratch, points.front().sram_bytes);
  }
  options.sram_bytes = scratch;
  options.sram_is_budget = true;
  THIMBLE_CHECK(compile_all(subgraphs, options, lowered, progress));
  if (uses_dedicated_sram(*lowered)) return refusal;
  memory::MemoryPlan memory_plan = memory::plan_memory(*lowered);
  const int64_t needed = memory_plan.placement.peak_bytes +
                         memory::runtime_bytes(*lowered, memory_plan) +
                         constant_bytes(lowered->delegates, abi::MemoryMode::kSramOnly);
  if (needed <= sram_bytes) return memory_plan;
  const int64_t constants = constant_bytes(lowered->delegates, abi::MemoryMode::kSramOnly);
  const std::string of_constants =
      constants == 0 ? ""
                     : fmt::format(" and {} B of constants (Sram_Only)", with_commas(constants));
  const int64_t all = needed + options.other_ram_bytes;
  const int64_t allowed = sram_bytes + options.other_ram_bytes;
  return memory_refusal(
      fmt::format(
          "does not fit: sram needs at least {} B ({} B of them for the NPU{}), {} B allowed",
          with_commas(all), with_commas(scratch), of_constants, with_commas(allowed)),
      "sram", all, allowed);
}

}  // namespace

int64_t constant_bytes(const std::vector<engine::Delegate>& delegates, abi::MemoryMode mode) {
  int64_t bytes = 0;
  for (const engine::Delegate& delegate : delegates) {
    if (delegate.memory_mode == mode) bytes += delegate.constant_bytes;
  }
  return bytes;
}

bool uses_dedicated_sram(const engine::Lowered& lowered) {
  return std::ranges::any_of(lowered.delegates, [](const engine::Delegate& delegate) {
    return delegate.memory_mode == abi::MemoryMode::kDedicatedSram;
  });
}

Result<CpuOnlyNodes> engine_off(const ir::Graph& imported, const CompileOptions& options,
                                const engine::Part& part) {
  CpuOnlyNodes off;
  if (options.engine_off.empty()) {
    for (const std::string& pattern : part.recipe.engine_off) {
      for (const size_t index : matches(imported, pattern)) {
        off.try_emplace(imported.ops()[index].source.node,
                        fmt::format("engine_off {} of {}", pattern, part.name));
      }
    }
  }
  for (const std::string& pattern : options.engine_off) {
    THIMBLE_TRY(const std::vector<size_t> chosen, select_ops(imported, pattern, "--engine-off"));
    for (const size_t index : chosen) {
      off.try_emplace(imported.ops()[index].source.node, "--engine-off " + pattern);
    }
  }
  return off;
}

void report_engine_off(const CpuOnlyNodes& off, bool has_engines, CompileReport* report) {
  for (SourceOpReport& row : report->source_ops) {
    const auto found = off.find(row.source.node);
    if (found == off.end()) continue;
    if (row.calls.empty()) {
      report->notes.push_back(fmt::format("{}: no effect: {} has no kernel call: {}", found->second,
                                          row.source.node, row.reason));
    } else if (!has_engines) {
      row.reason = fmt::format("{}: no effect: {} runs everything on the CPU", found->second,
                               report->target);
    }
  }
}

namespace {

/// Returns the reason per operator; empty if an engine may run it. A requantization that was
/// inserted between two operators has no node of the export. It is kept off if its producer and all
/// its readers are kept off, so that it does not become a subgraph by itself.
std::vector<std::string> keep_off(const ir::Graph& graph, const CpuOnlyNodes& off) {
  const std::vector<int> producers = graph.producers();
  std::vector<std::string> why;
  std::vector<bool> read_on(graph.value_count(), false);  // read by an op not kept off
  for (const ir::Op& op : graph.ops()) {
    const auto found = off.find(op.source.node);
    std::string reason = found == off.end() ? "" : found->second;
    if (op.source.node.empty() && !op.inputs.empty()) {
      const int producer = producers[static_cast<size_t>(op.inputs[0])];
      if (producer >= 0) reason = why[static_cast<size_t>(producer)];
    }
    why.push_back(std::move(reason));
  }
  for (size_t i = why.size(); i-- > 0;) {
    const ir::Op& op = graph.ops()[i];
    if (op.source.node.empty() && read_on[static_cast<size_t>(op.output)]) why[i].clear();
    if (!why[i].empty()) continue;
    for (const ir::ValueId id : op.inputs) {
      if (id != ir::kNoValue) read_on[static_cast<size_t>(id)] = true;
    }
  }
  return why;
}

}  // namespace

Result<partition::Partition> cut(const ir::Graph& graph, const engine::Part& part,
                                 const CpuOnlyNodes& off, bool keep_small) {
  if (part.engines.empty()) {
    partition::Partition whole;
    whole.graph = graph;
    return whole;
  }
  partition::Choices choices;
  choices.keep_small = keep_small;
  choices.minimum_steps = part.recipe.minimum_steps;
  choices.keep_off = keep_off(graph, off);
  return partition::partition(graph, part.engines, choices);
}

Result<memory::MemoryPlan> compile_subgraphs(std::span<const partition::Subgraph> subgraphs,
                                             engine::NpuOptions options, engine::Lowered* lowered,
                                             const ProgressFunction& progress) {
  const std::optional<int64_t> sram_bytes = options.sram_bytes;
  for (int attempt = 1;; ++attempt) {
    const Status compiled = compile_all(subgraphs, options, lowered, progress);
    if (!compiled) {
      if (!sram_bytes || compiled.error().kind != ErrorKind::kUnsupported) return compiled.error();
      return smallest(subgraphs, *sram_bytes, compiled.error(), options, lowered, progress);
    }
    report_progress(progress, "placing buffers");
    memory::MemoryPlan memory_plan = memory::plan_memory(*lowered);
    if (!sram_bytes || subgraphs.empty() || uses_dedicated_sram(*lowered) ||
        attempt == kBudgetAttempts) {
      return memory_plan;
    }
    const int64_t used = memory_plan.placement.peak_bytes +
                         memory::runtime_bytes(*lowered, memory_plan) +
                         constant_bytes(lowered->delegates, abi::MemoryMode::kSramOnly);
    if (used <= *sram_bytes) return memory_plan;
    // The budget was for the whole SRAM: subtract what the arena needs besides the engines'
    // scratch.
    int64_t scratch = 0;
    for (const engine::Delegate& delegate : lowered->delegates) {
      scratch = std::max(scratch, delegate.scratch_bytes);
    }
    options.sram_bytes = std::max<int64_t>(0, *sram_bytes - (used - scratch));
  }
}

Result<std::vector<engine::ParetoPoint>> sram_pareto(
    std::span<const partition::Subgraph> subgraphs) {
  std::vector<std::vector<engine::ParetoPoint>> all;
  std::set<int64_t> sizes;
  for (const partition::Subgraph& subgraph : subgraphs) {
    const engine::PartNpu& use = *subgraph.engine;
    if (use.engine->pareto == nullptr) continue;
    THIMBLE_TRY(std::vector<engine::ParetoPoint> points, use.engine->pareto(subgraph.graph, use));
    for (const engine::ParetoPoint& point : points) sizes.insert(point.sram_bytes);
    all.push_back(std::move(points));
  }
  std::vector<engine::ParetoPoint> result;
  for (const int64_t size : sizes) {
    engine::ParetoPoint together{size, 0};
    bool fits = true;
    for (const auto& points : all) {  // from least SRAM to most, so the last that fits is fastest
      const engine::ParetoPoint* best = nullptr;
      for (const engine::ParetoPoint& point : points) {
        if (point.sram_bytes <= size) best = &point;
      }
      fits = fits && best != nullptr;
      together.cycles += best == nullptr ? 0 : best->cycles;
    }
    const bool better = fits && (result.empty() || together.cycles < result.back().cycles);
    if (better) result.push_back(together);
  }
  return result;
}

void report_engines(const ir::Graph& integer, std::span<const std::string> why_not,
                    std::span<const std::pair<std::string, std::string>> added,
                    std::span<const RowOp> rows, CompileReport* report) {
  std::map<std::string, std::string> reasons;  // key: name of the operator's result
  for (size_t i = 0; i < why_not.size(); ++i) {
    reasons[integer.value(integer.ops()[i].output).name] = why_not[i];
  }
  for (const auto& [name, reason] : added) reasons[name] = reason;
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

std::optional<int64_t> sum_cycles(const std::vector<engine::Delegate>& delegates) {
  std::optional<int64_t> sum;
  for (const engine::Delegate& delegate : delegates) {
    if (!delegate.cycles) return std::nullopt;
    sum = sum.value_or(0) + *delegate.cycles;
  }
  return sum;
}

/// Adds the schedule of one more delegate: delegates run one after the other in the same memory.
void add_choice(const engine::SramChoice& choice, std::optional<engine::SramChoice>* sum) {
  if (!*sum) {
    *sum = choice;
    return;
  }
  const auto add = [](const engine::ParetoPoint& point, engine::ParetoPoint* to) {
    to->sram_bytes = std::max(to->sram_bytes, point.sram_bytes);
    to->cycles += point.cycles;
  };
  add(choice.chosen, &(*sum)->chosen);
  add(choice.smallest, &(*sum)->smallest);
  add(choice.fastest, &(*sum)->fastest);
}

void report_delegates(const std::vector<engine::Delegate>& delegates, CompileReport* report) {
  report->npu_calls = static_cast<int64_t>(delegates.size());
  report->npus.clear();
  report->sram_choice.reset();
  for (const engine::Delegate& delegate : delegates) {
    auto npu = std::ranges::find(report->npus, delegate.engine, &NpuUse::engine);
    if (npu == report->npus.end()) {
      report->npus.push_back({delegate.engine, 0, 0});
      npu = std::prev(report->npus.end());
    }
    const bool timed = npu->time_us && delegate.cycles && delegate.clock_mhz > 0;
    npu->time_us = timed ? std::optional(*npu->time_us +
                                         static_cast<double>(*delegate.cycles) / delegate.clock_mhz)
                         : std::nullopt;
    npu->cycles = npu->cycles && delegate.cycles ? std::optional(*npu->cycles + *delegate.cycles)
                                                 : std::nullopt;
    const bool said = std::ranges::find(report->notes, delegate.note) != report->notes.end();
    if (delegate.sram_choice) add_choice(*delegate.sram_choice, &report->sram_choice);
    if (!delegate.note.empty() && !said) report->notes.push_back(delegate.note);
  }
}

}  // namespace thimble::driver
