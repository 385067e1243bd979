// SPDX-License-Identifier: Apache-2.0
#include "driver/build_program.h"

#include <algorithm>

#include "abi/pte_ops.h"
#include "driver/does_not_fit.h"
#include "driver/linked_size.h"
#include "driver/op_rows.h"
#include "driver/overlap.h"
#include "driver/part_memories.h"
#include "formats/pte/runtime_bytes.h"
#include "ir/print.h"
#include "ir/weight_bits.h"
#include "memory/budget.h"
#include "partition/partition.h"

namespace thimble::driver {
namespace {

/// Effort of an operator in a subgraph: its part of the NPU's schedule.
constexpr int64_t kDelegateOpEffort = 10'000;

/// Counts operators with float results, except quantize and dequantize.
int64_t count_float_ops(const ir::Graph& graph) {
  return std::count_if(graph.ops().begin(), graph.ops().end(), [&](const ir::Op& op) {
    if (op.kind == ir::OpKind::quantize || op.kind == ir::OpKind::dequantize) return false;
    return graph.type(op.output).dtype == ir::DType::kF32;
  });
}

/// Returns the names of inputs and outputs in the export, if `wanted`.
std::optional<formats::pte::IoNames> io_names(bool wanted, const CompileReport& report) {
  if (!wanted) return std::nullopt;
  formats::pte::IoNames names;
  for (const IoReport& input : report.inputs) names.inputs.push_back(input.name);
  for (const IoReport& output : report.outputs) names.outputs.push_back(output.name);
  return names;
}

/// Saves the graph of each subgraph and the payload of its delegate.
Status save_subgraphs(StageFiles* files, const Compiled& compiled) {
  for (size_t i = 0; i < compiled.subgraphs.size(); ++i) {
    const std::string name = fmt::format("partition-{}-{}", compiled.subgraphs[i].engine->name, i);
    const engine::Delegate& delegate = compiled.lowered.delegates[i];
    THIMBLE_CHECK(files->save(name + ".ir", compiled.subgraphs[i].graph));
    THIMBLE_CHECK(files->save(name + ".bin", delegate.payload));
    if (delegate.tflite_model.empty()) continue;
    THIMBLE_CHECK(files->save(name + ".tflite", delegate.tflite_model));
  }
  return ok();
}

/// Fills the sizes that are known when the program is written.
void fill_report(const Compiled& compiled, const memory::MemoryPlan& memory_plan,
                 const emit::Emitted& emitted, CompileReport* report) {
  report->pte_bytes = static_cast<int64_t>(emitted.bytes.size());
  report->weights_bytes = emitted.constant_bytes;
  report->arena_bytes = memory_plan.placement.peak_bytes;
  report->arena_lower_bound_bytes = memory_plan.placement.lower_bound_bytes;
  report->kept_bytes = memory_plan.state_bytes;
  // Includes copies of inputs that the graph passes through as outputs.
  report->inputs_in_arena =
      std::ranges::all_of(compiled.lowered.graph.inputs(), [&](ir::ValueId input) {
        return memory_plan.range_of_value[static_cast<size_t>(input)] >= 0;
      });
  report->input_bytes = 0;
  for (const IoReport& input : report->inputs) {
    report->input_bytes += static_cast<int64_t>(input.type.bytes());
  }
  report->state_bytes = formats::pte::runtime_bytes(emitted.program.plans[0]);
  report->float_ops = count_float_ops(compiled.lowered.graph);
  report->peak = find_peak(compiled.lowered, memory_plan);
  list_memories(*compiled.part, compiled.lowered, report);
}

/// Adds a note for each operator whose weights of 4 bits are stored in 8 bits, because no packed
/// form with 4 bits supports its shape or its multipliers.
void note_int8_storage(const engine::Lowered& lowered, CompileReport* report) {
  for (const engine::KernelCall& call : lowered.calls) {
    if (call.delegate >= 0 || call.ir_op < 0) continue;
    const ir::Op& op = lowered.graph.ops()[static_cast<size_t>(call.ir_op)];
    if (!ir::has_int4_weights(op)) continue;
    if (abi::weight_bits(abi::info(call.op).key) == 4) continue;
    report->notes.push_back(fmt::format(
        "{}: its weights of 4 bits are stored in 8 bits: no form with 4 bits supports its shape or "
        "multipliers",
        lowered.graph.value(op.output).name));
  }
}

/// Replaces the integer graph by one in the arithmetic of the engines that run its subgraphs.
Status adapt(const partition::Partition& split, Compiled* compiled, StageFiles* files) {
  const bool adapts = std::ranges::any_of(split.subgraphs, [](const partition::Subgraph& subgraph) {
    return subgraph.engine->engine->adapt != nullptr;
  });
  if (!adapts) return ok();
  THIMBLE_TRY(compiled->integer_graph, partition::inline_subgraphs(split.graph, split.subgraphs));
  return files->save("adapted.ir", compiled->integer_graph);
}

/// Rejects delegates that ExecuTorch's own runtime does not have.
Status check_stock_delegates(const Compiled& compiled) {
  for (const engine::Delegate& delegate : compiled.lowered.delegates) {
    const auto& engines = compiled.part->engines;
    const auto use = std::ranges::find(engines, delegate.engine, &engine::PartNpu::name);
    if (use == engines.end()) continue;
    const auto known = use->engine->executorch_delegates;
    if (std::ranges::find(known, delegate.id) != known.end()) continue;
    const std::string other =
        known.empty()
            ? ""
            : fmt::format(" (it has {}, which the vendor's tools make)", fmt::join(known, ", "));
    return unsupported(
        "--compat executorch: {} runs subgraphs in the delegate {}, which ExecuTorch's own runtime "
        "does not have{}: use --target {}, or no --compat executorch for Thimble's runtime",
        delegate.engine, delegate.id, other, compiled.part->cpu->name);
  }
  return ok();
}

/// Reports the choices between memory and time: of the NPU's schedules, or of row tiling on the
/// core. `graph` is the part of the integer graph that the core runs.
Status report_pareto(const ir::Graph& graph, const engine::Options& core_options,
                     Compiled* compiled) {
  const engine::Part& part = *compiled->part;
  const auto has_schedules = [](const engine::PartNpu& use) {
    return use.engine->pareto != nullptr;
  };
  if (std::ranges::any_of(part.engines, has_schedules)) {
    THIMBLE_TRY(compiled->report.pareto, sram_pareto(compiled->subgraphs));
    return ok();
  }
  if (!compiled->subgraphs.empty() || core_options.dialect != engine::Dialect::kNative) {
    return bad_input("--pareto: no engine of {} has more than one schedule", part.name);
  }
  THIMBLE_TRY(auto lines, memory::pareto_lines(graph, *part.cpu, core_options));
  std::ranges::move(lines, std::back_inserter(compiled->report.notes));
  return ok();
}

/// Cuts the integer graph into subgraphs for the part's engines and legalizes the rest for the CPU,
/// with memory orders and kernel calls. Then compiles the subgraphs and assigns addresses in the
/// arena.
Status lower_and_plan(const CompileOptions& options, std::optional<int64_t> sram_bytes,
                      int64_t other_ram_bytes, const CpuOnlyNodes& off, Program* program,
                      StageFiles* files) {
  Compiled* const compiled = &program->compiled;
  const engine::Part& part = *compiled->part;
  THIMBLE_TRY(partition::Partition split,
              cut(compiled->integer_graph, part, off, *options.keep_small));
  THIMBLE_CHECK(adapt(split, compiled, files));
  compiled->subgraphs = std::move(split.subgraphs);
  if (!compiled->subgraphs.empty()) THIMBLE_CHECK(files->save("partitioned.ir", split.graph));
  std::optional<int64_t> arena_bytes = sram_bytes;
  if (arena_bytes) *arena_bytes -= other_ram_bytes;
  engine::Options core_options;
  core_options.dialect = *options.dialect;
  core_options.owns_inputs = options.owns_inputs;
  core_options.optimize = options.optimize;
  THIMBLE_TRY(memory::BudgetedLowering budgeted,
              memory::lower_within_budget(split.graph, *part.cpu, core_options, arena_bytes));
  program->effort += budgeted.effort;
  for (const partition::Subgraph& subgraph : compiled->subgraphs) {
    program->effort += kDelegateOpEffort * static_cast<int64_t>(subgraph.graph.ops().size());
  }
  compiled->lowered = std::move(budgeted.lowered);
  std::ranges::move(budgeted.notes, std::back_inserter(compiled->report.notes));
  if (options.pareto) THIMBLE_CHECK(report_pareto(split.graph, core_options, compiled));
  program->reasons = std::move(split.reasons);
  program->added = std::move(split.added);
  engine::NpuOptions npu_options;
  npu_options.sram_bytes = arena_bytes;
  npu_options.sram_is_budget = ram_limit_is_stated(part, options);
  npu_options.other_ram_bytes = other_ram_bytes;
  npu_options.smallest = options.optimize == engine::Optimize::kSize;
  npu_options.external_weights = options.external_weights;
  npu_options.vendor = options.vendor;
  THIMBLE_TRY(program->memory_plan, compile_subgraphs(compiled->subgraphs, npu_options,
                                                      &compiled->lowered, options.progress));
  if (*options.dialect ==
      engine::Dialect::kStock) {  // ExecuTorch's runtime waits for each delegate
    THIMBLE_CHECK(check_stock_delegates(*compiled));
  } else {
    compiled->report.overlap_arena_bytes = overlap_calls(part, {npu_options.smallest, arena_bytes},
                                                         &compiled->lowered, &program->memory_plan);
  }
  THIMBLE_CHECK(save_subgraphs(files, *compiled));
  return files->save("lowered.ir", compiled->lowered.graph);
}

/// Sets report->linked and linked_c.
Status set_linked_sizes(const CompileOptions& options, const emit::Emitted& emitted,
                        Compiled* compiled) {
  const auto pte_bytes = static_cast<int64_t>(emitted.bytes.size());
  // The tool refuses C output of a program with delegates.
  const bool can_be_c = options.c_output && compiled->lowered.delegates.empty();
  const bool c_only = can_be_c && !options.pte_output;
  CompileReport& report = compiled->report;
  THIMBLE_TRY(report.linked, linked_size(*compiled, emitted.program, pte_bytes, c_only));
  if (!can_be_c || c_only || !report.linked) return ok();
  THIMBLE_TRY(report.linked_c, linked_size(*compiled, emitted.program, pte_bytes, true));
  return ok();
}

/// `sram_bytes` is the limit of arena, variables and stack. Variables and stack are assumed to need
/// `other_ram_bytes` of it.
Status build_once(const CompileOptions& options, std::optional<int64_t> sram_bytes,
                  int64_t other_ram_bytes, const CpuOnlyNodes& off, Program* program,
                  StageFiles* files) {
  Compiled* const compiled = &program->compiled;
  CompileReport& report = compiled->report;
  report.notes.clear();
  THIMBLE_CHECK(lower_and_plan(options, sram_bytes, other_ram_bytes, off, program, files));
  THIMBLE_TRY(
      program->emitted,
      emit::write_program(compiled->lowered, program->memory_plan, *compiled->part->cpu,
                          {*options.dialect, options.names, io_names(options.names, report)}));
  THIMBLE_CHECK(set_linked_sizes(options, program->emitted, compiled));
  fill_report(*compiled, program->memory_plan, program->emitted, &report);
  note_int8_storage(compiled->lowered, &report);
  return ok();
}

}  // namespace

Status build_program(const CompileOptions& options, std::optional<int64_t> sram_bytes,
                     const CpuOnlyNodes& off, Program* program, StageFiles* files) {
  Compiled* const compiled = &program->compiled;
  const ir::Graph integer_graph = compiled->integer_graph;
  Status first = build_once(options, sram_bytes, 0, off, program, files);
  if (!sram_bytes || compiled->part->has_memory_speeds()) return first;
  const CompileReport& report = compiled->report;
  if (first && sram_bytes_of(report) <= *sram_bytes) return first;
  if (!first) {
    // The refusal of an NPU's engine must include stack and variables.
    if (first.error().kind != ErrorKind::kUnsupported) return first;
    compiled->integer_graph = integer_graph;
    StageFiles none({});
    if (!build_once(options, std::nullopt, 0, off, program, &none)) return first;
  }
  // Variables and stack are then not in the SRAM: a smaller arena would not help.
  if (uses_dedicated_sram(compiled->lowered)) return first;
  // Other kernels may need more stack: then the arena gets less in the next attempt.
  constexpr int kAttempts = 3;
  int64_t assumed = 0;
  Status last = std::move(first);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const int64_t other_ram_bytes = ram_bytes(report) - report.arena_bytes - report.state_bytes;
    if (other_ram_bytes <= assumed) return last;
    assumed = other_ram_bytes;
    compiled->integer_graph = integer_graph;
    last = build_once(options, sram_bytes, other_ram_bytes, off, program, files);
    if (!last || sram_bytes_of(report) <= *sram_bytes) break;
  }
  return last;
}

}  // namespace thimble::driver
