#include "driver/compile.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "abi/pte_ops.h"
#include "abi/runtime_memory.h"
#include "base/nearest.h"
#include "driver/data.h"
#include "driver/does_not_fit.h"
#include "driver/engines.h"
#include "driver/linked_size.h"
#include "driver/npu_cycles.h"
#include "driver/object_placement.h"
#include "driver/op_provenance.h"
#include "driver/op_rows.h"
#include "driver/recipe.h"
#include "driver/run_time.h"
#include "driver/stages.h"
#include "emit/decompile.h"
#include "emit/emit.h"
#include "engine/part.h"
#include "formats/kind/file_kind.h"
#include "formats/pt2/reader.h"
#include "formats/pte/print.h"
#include "import/import.h"
#include "ir/dce.h"
#include "ir/op_cost.h"
#include "ir/print.h"
#include "memory/budget.h"
#include "memory/memory_plan.h"
#include "passes/pipeline.h"
#include "quant/pins.h"

namespace thimble::driver {
namespace {

namespace fs = std::filesystem;

class Clock {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Returns the compiled types with the names of the user's model.
std::vector<IoReport> report_io(const ir::Graph& compiled, const std::vector<ir::ValueId>& values,
                                const std::vector<ir::ValueId>& named, const ir::Graph& original) {
  std::vector<IoReport> reports;
  for (size_t i = 0; i < values.size(); ++i) {
    reports.push_back({original.value(named[i]).name, compiled.type(values[i])});
  }
  return reports;
}

Status declare_channels_last(ir::Graph* graph) {
  for (const auto& values : {graph->inputs(), graph->outputs()}) {
    for (const ir::ValueId id : values) {
      if (graph->type(id).shape.size() != 4) continue;
      graph->value(id).type.dim_order = ir::channels_last_order();
    }
  }
  const auto is_image = [&](ir::ValueId id) { return graph->type(id).shape.size() == 4; };
  if (std::none_of(graph->inputs().begin(), graph->inputs().end(), is_image)) {
    return bad_input("--io-layout nhwc: the model has no input of four dimensions");
  }
  return ok();
}

int64_t count_parameters(const ir::Graph& graph) {
  int64_t count = 0;
  for (size_t i = 0; i < graph.value_count(); ++i) {
    const ir::Value& value = graph.value(static_cast<ir::ValueId>(i));
    if (value.constant) count += value.type.elements();
  }
  return count;
}

/// Counts operators with float results, except quantize and dequantize.
int64_t count_float_ops(const ir::Graph& graph) {
  return std::count_if(graph.ops().begin(), graph.ops().end(), [&](const ir::Op& op) {
    if (op.kind == ir::OpKind::quantize || op.kind == ir::OpKind::dequantize) return false;
    return graph.type(op.output).dtype == ir::DType::kF32;
  });
}

/// Lists the memories of a part whose file states their speeds. For other parts, lists SRAM, DRAM
/// and flash. With the memory mode Dedicated_Sram, the SRAM is the NPU's fast scratch, and arena,
/// variables and stack are in the DRAM.
void list_memories(const engine::Part& part, const engine::Lowered& lowered,
                   CompileReport* report) {
  report->memories.clear();
  const std::vector<engine::Delegate>& delegates = lowered.delegates;
  report->sram_constant_bytes = constant_bytes(delegates, abi::MemoryMode::kSramOnly);
  report->dram_constant_bytes = constant_bytes(delegates, abi::MemoryMode::kDedicatedSram);
  report->dedicated_sram = uses_dedicated_sram(lowered);
  if (part.has_memory_speeds()) {
    // Their used bytes are set after the placement (placement.h).
    for (const engine::PartMemory& memory : part.memories) {
      report->memories.push_back({memory.name, 0, 0});
    }
    return;
  }
  const bool dedicated = report->dedicated_sram;
  int64_t sram = report->sram_constant_bytes, dram = report->dram_constant_bytes;
  (dedicated ? dram : sram) += ram_bytes(*report);
  int64_t fast = 0;
  for (const engine::Delegate& delegate : delegates) {
    const bool own = delegate.memory_mode == abi::MemoryMode::kDedicatedSram;
    if (own) fast = std::max(fast, delegate.fast_scratch_bytes);
  }
  report->memories.push_back({"sram", sram + fast, 0});
  const bool has_dram = std::ranges::any_of(
      part.memories, [](const engine::PartMemory& memory) { return memory.name == "dram"; });
  if (dedicated || has_dram) report->memories.push_back({"dram", dram, 0});
  report->memories.push_back({"flash", flash_bytes(*report), 0});
}

/// Returns the bytes of SRAM that the program needs; only for a part without memory speeds.
int64_t sram_bytes_of(const CompileReport& report) {
  return std::ranges::find(report.memories, "sram", &MemoryUse::name)->bytes_used;
}

/// `sizes` are the user's options or else the sizes of the part.
Status set_memory_sizes(const std::map<std::string, int64_t>& sizes, CompileReport* report) {
  for (const auto& [name, bytes] : sizes) {
    const auto memory = std::ranges::find(report->memories, name, &MemoryUse::name);
    if (memory == report->memories.end()) {
      std::vector<std::string> names;
      for (const MemoryUse& known : report->memories) names.push_back(known.name);
      return bad_input("--memory {}: target {} has the memories {}{}", name, report->target,
                       fmt::join(names, " and "), suggestions(name, names));
    }
    memory->bytes_size = bytes;
  }
  return ok();
}

std::map<std::string, int64_t> memory_sizes(const CompileOptions& options,
                                            const engine::Part& part) {
  std::map<std::string, int64_t> sizes = options.memory;
  for (const engine::PartMemory& memory : part.memories) {
    if (memory.bytes > 0) sizes.try_emplace(memory.name, memory.bytes);
  }
  return sizes;
}

/// Bytes that the arena may have: of the SRAM, or of the largest memory that may hold it.
std::optional<int64_t> arena_limit(const engine::Part& part,
                                   const std::map<std::string, int64_t>& sizes) {
  if (!part.has_memory_speeds()) {
    const auto sram = sizes.find("sram");
    return sram == sizes.end() ? std::optional<int64_t>() : sram->second;
  }
  std::optional<int64_t> limit;
  for (const engine::PartMemory& memory : part.memories) {
    if (std::ranges::find(memory.holds, "arena") == memory.holds.end()) continue;
    limit = std::max(limit.value_or(0), sizes.at(memory.name));
  }
  return limit;
}

int64_t runtime_bytes(const formats::pte::ExecutionPlan& plan) {
  const bool all_planned = std::ranges::all_of(plan.inputs, [&](int32_t index) {
    const auto* tensor =
        std::get_if<formats::pte::Tensor>(&plan.values[static_cast<size_t>(index)]);
    return tensor != nullptr && tensor->allocation.has_value();
  });
  return static_cast<int64_t>(abi::runtime_bytes(plan.operators.size(), plan.inputs.size(),
                                                 all_planned, plan.delegates.size()));
}

Result<import_pt2::ImportedModel> read_model(const fs::path& model,
                                             const std::map<std::string, int64_t>& shapes) {
  const Result<formats::pt2::ExportedProgram> read = formats::pt2::read(model);
  if (!read) return formats::explain_file(model, formats::FileUse::kExport, read.error());
  const formats::pt2::ExportedProgram& program = *read;
  import_pt2::ImportOptions options;
  options.shapes = shapes;
  return import_pt2::import_program(program, options, model.filename().string());
}

/// Returns false for ExecuTorch's kernels, which do not support 16-bit activations.
bool has_int16(const CompileOptions& options) {
  return options.dialect == engine::Dialect::kNative;
}
Status check_widths(const CompileOptions& options, const engine::Core& target) {
  if (has_int16(options) || (!*options.wide_activations && !options.goal)) return ok();
  return unsupported("{} with {}: ExecuTorch has no kernels for 16-bit activations on {}",
                     *options.wide_activations ? "--activations int16" : "--accuracy",
                     "--compat executorch", target.name);
}

/// Applies the quantization preferences of the part's engines.
void apply_preferences(const engine::Part& part, quant::QuantSpec* spec) {
  if (!part.recipe.preferences.value_or(true)) return;
  for (const engine::PartNpu& use : part.engines) {
    const engine::QuantPreferences* preferences = use.engine->preferences;
    if (preferences == nullptr) continue;
    if (preferences->linear_per_tensor) spec->linear_weights = quant::LinearWeights::kPerTensor;
    if (preferences->narrow_softmax) spec->wide_softmax = false;
    if (preferences->symmetric_products) spec->symmetric_products = true;
    // Operators are offered to the first engine first, so its names take precedence.
    if (spec->tables.empty()) {
      spec->tables.assign(preferences->tables.begin(), preferences->tables.end());
    }
  }
}

}  // namespace

Result<ir::Graph> load_float_graph(const fs::path& model,
                                   const std::map<std::string, int64_t>& shapes) {
  THIMBLE_TRY(const import_pt2::ImportedModel imported, read_model(model, shapes));
  return passes::run_float_passes(imported.graph);
}

namespace {

/// Runs passes::run_float_passes pass by pass: records removed operators and saves changed graphs.
Result<ir::Graph> run_passes(const ir::Graph& imported, StageFiles* stages,
                             OpProvenance* provenance) {
  ir::Graph current = ir::remove_unused(imported);
  for (const passes::Pass& pass : passes::float_passes()) {
    THIMBLE_TRY(ir::Graph next, passes::run_pass(pass, current));
    provenance->step(current, next, pass.removal_reason);
    if (stages->wanted()) {
      const std::string text = ir::print(next);
      if (text != ir::print(current)) {
        THIMBLE_CHECK(stages->save(fmt::format("{}.ir", pass.name), text));
      }
    }
    current = std::move(next);
  }
  return current;
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
Status save_subgraphs(StageFiles* stages, const Compiled& compiled) {
  for (size_t i = 0; stages->wanted() && i < compiled.subgraphs.size(); ++i) {
    const std::string name = fmt::format("partition-{}-{}", compiled.subgraphs[i].engine->name, i);
    THIMBLE_CHECK(stages->save(name + ".ir", ir::print(compiled.subgraphs[i].graph)));
    const std::vector<std::byte>& payload = compiled.lowered.delegates[i].payload;
    const auto* bytes = reinterpret_cast<const char*>(payload.data());
    THIMBLE_CHECK(stages->save(name + ".bin", std::string(bytes, payload.size())));
    const std::vector<std::byte>& tflite_model = compiled.lowered.delegates[i].tflite_model;
    if (tflite_model.empty()) continue;
    const auto* model = reinterpret_cast<const char*>(tflite_model.data());
    THIMBLE_CHECK(stages->save(name + ".tflite", std::string(model, tflite_model.size())));
  }
  return ok();
}

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
  report->state_bytes = runtime_bytes(emitted.program.plans[0]);
  report->float_ops = count_float_ops(compiled.lowered.graph);
  report->peak = find_peak(compiled.lowered, memory_plan);
  list_memories(*compiled.part, compiled.lowered, report);
}

/// Saves the file of a program that runs on the CPU only, and the graph decompiled from it.
Status save_partition(StageFiles* stages, std::string_view engine, const emit::Emitted& emitted) {
  if (!stages->wanted()) return ok();
  THIMBLE_TRY(const ir::Graph lifted, emit::decompile(emitted.program));
  THIMBLE_CHECK(stages->save(fmt::format("partition-{}.ir", engine), ir::print(lifted)));
  const auto* bytes = reinterpret_cast<const char*>(emitted.bytes.data());
  return stages->save(fmt::format("partition-{}.pte", engine),
                      std::string(bytes, emitted.bytes.size()));
}

/// Replaces the integer graph by one in the arithmetic of the engines that run its subgraphs.
Status adapt(const partition::Partition& split, Compiled* compiled, StageFiles* stages) {
  const bool adapts = std::ranges::any_of(split.subgraphs, [](const partition::Subgraph& subgraph) {
    return subgraph.engine->engine->adapt != nullptr;
  });
  if (!adapts) return ok();
  THIMBLE_TRY(compiled->integer_graph, partition::inline_subgraphs(split.graph, split.subgraphs));
  if (stages->wanted()) {
    THIMBLE_CHECK(stages->save("adapted.ir", ir::print(compiled->integer_graph)));
  }
  return ok();
}

/// Outputs that are constant over the samples have no signal; their SQNR is meaningless.
bool has_sqnr(const quant::QuantReport& report, size_t output) {
  constexpr double kNoSignalDb = -100;
  return !report.output_agreement[output] && report.output_sqnr_db[output] > kNoSignalDb;
}

void warn_of_low_sqnr(CompileReport* report) {
  for (size_t i = 0; i < report->quant.output_sqnr_db.size(); ++i) {
    if (!has_sqnr(report->quant, i)) continue;
    std::string warning = sqnr_warning(report->outputs[i].name, report->quant.output_sqnr_db[i]);
    if (!warning.empty()) report->warnings.push_back(std::move(warning));
  }
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

/// Cuts the integer graph into subgraphs for the part's engines. The rest is legalized for the CPU,
/// with memory orders and kernel calls. Then all buffers get addresses.
Status lower_and_place(const CompileOptions& options, std::optional<int64_t> sram_bytes,
                       int64_t other_ram_bytes, const CpuOnlyNodes& off, Program* program,
                       StageFiles* stages) {
  Compiled* const compiled = &program->compiled;
  const engine::Part& part = *compiled->part;
  THIMBLE_TRY(partition::Partition split,
              cut(compiled->integer_graph, part, off, *options.keep_small));
  THIMBLE_CHECK(adapt(split, compiled, stages));
  compiled->subgraphs = std::move(split.subgraphs);
  if (stages->wanted() && !compiled->subgraphs.empty()) {
    THIMBLE_CHECK(stages->save("partitioned.ir", ir::print(split.graph)));
  }
  engine::Options target_options;
  target_options.dialect = *options.dialect;
  target_options.owns_inputs = options.owns_inputs;
  target_options.optimize = options.optimize;
  engine::NpuOptions engine_options;
  engine_options.sram_bytes = sram_bytes;
  if (engine_options.sram_bytes) *engine_options.sram_bytes -= other_ram_bytes;
  engine_options.other_ram_bytes = other_ram_bytes;
  THIMBLE_TRY(memory::BudgetedLowering budgeted,
              memory::lower_within_budget(split.graph, *part.cpu, target_options,
                                          engine_options.sram_bytes));
  compiled->lowered = std::move(budgeted.lowered);
  std::ranges::move(budgeted.notes, std::back_inserter(compiled->report.notes));
  engine_options.smallest = options.optimize == engine::Optimize::kSize;
  engine_options.external_weights = options.external_weights;
  engine_options.vendor = options.vendor;
  if (options.pareto) {
    const auto choosable = [](const engine::PartNpu& use) { return use.engine->pareto != nullptr; };
    if (std::ranges::any_of(part.engines, choosable)) {
      THIMBLE_TRY(compiled->report.pareto, sram_pareto(compiled->subgraphs));
    } else if (compiled->subgraphs.empty() && target_options.dialect == engine::Dialect::kNative) {
      THIMBLE_TRY(auto lines, memory::pareto_lines(split.graph, *part.cpu, target_options));
      std::ranges::move(lines, std::back_inserter(compiled->report.notes));
    } else {
      return bad_input("--pareto: no engine of {} has more than one schedule", part.name);
    }
  }
  program->reasons = std::move(split.reasons);
  program->added = std::move(split.added);
  THIMBLE_TRY(program->memory_plan, compile_subgraphs(compiled->subgraphs, engine_options,
                                                      &compiled->lowered, options.progress));
  if (*options.dialect == engine::Dialect::kStock) THIMBLE_CHECK(check_stock_delegates(*compiled));
  THIMBLE_CHECK(save_subgraphs(stages, *compiled));
  if (stages->wanted()) {
    THIMBLE_CHECK(stages->save("lowered.ir", ir::print(compiled->lowered.graph)));
  }
  return ok();
}

/// Sets report->linked and linked_c.
Status link(const CompileOptions& options, const emit::Emitted& emitted, Compiled* compiled) {
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
                  StageFiles* stages) {
  Compiled* const compiled = &program->compiled;
  CompileReport& report = compiled->report;
  report.notes.clear();
  THIMBLE_CHECK(lower_and_place(options, sram_bytes, other_ram_bytes, off, program, stages));
  THIMBLE_TRY(
      program->emitted,
      emit::write_program(compiled->lowered, program->memory_plan, *compiled->part->cpu,
                          {*options.dialect, options.names, io_names(options.names, report)}));
  THIMBLE_CHECK(link(options, program->emitted, compiled));
  fill_report(*compiled, program->memory_plan, program->emitted, &report);
  return ok();
}

/// Lowers, places and emits the integer graph. With a budget for SRAM, the arena gets the part of
/// it that stack and variables leave. These depend on the kernels, which are known only after
/// lowering: if the first result is too large, the graph is lowered again.
Status build(const CompileOptions& options, std::optional<int64_t> sram_bytes,
             const CpuOnlyNodes& off, Program* program, StageFiles* stages) {
  Compiled* const compiled = &program->compiled;
  const ir::Graph integer_graph = compiled->integer_graph;
  Status first = build_once(options, sram_bytes, 0, off, program, stages);
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
  // Variables and stack are then not in the SRAM.
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
    last = build_once(options, sram_bytes, other_ram_bytes, off, program, stages);
    if (!last || sram_bytes_of(report) <= *sram_bytes) break;
  }
  return last;
}

/// Places the objects of a program whose part states the speed of its memories. If a memory is too
/// small, sets report->shortage.
Status place(const Compiled& compiled, const formats::pte::Program& program,
             const CompileOptions& options, const std::map<std::string, int64_t>& sizes,
             CompileReport* report) {
  report->shortage.clear();
  if (!compiled.part->has_memory_speeds() || first_overflow(*report) != nullptr) return ok();
  Status placed = place_objects(compiled, program, options.c_output, sizes, report);
  if (placed || placed.error().kind != ErrorKind::kUnsupported) return placed;
  report->shortage = placed.error().message;
  return ok();
}

/// Compiles the quantized graph in other ways, for the refusal of a program that does not fit.
class Alternatives {
 public:
  Alternatives(const CompileOptions& asked, const CompileOptions& options, const CpuOnlyNodes& off,
               const ir::Graph& integer_graph, const Compiled& compiled)
      : asked_(asked),
        options_(options),
        off_(off),
        integer_graph_(integer_graph),
        compiled_(compiled) {}

  /// `over`: the memory that is too small; null for a placement in several memories.
  [[nodiscard]] std::vector<Alternative> evaluate(const MemoryUse* over) const {
    std::vector<Alternative> found;
    const bool flash = over == nullptr || over->name == "flash";
    const bool ram = over == nullptr || over->name != "flash";
    CompileOptions other = options_;
    if (flash && options_.optimize != engine::Optimize::kFlash) {
      other.optimize = engine::Optimize::kFlash;
      add("with --optimize flash", other, &found);
    }
    const bool can_be_c =
        compiled_.lowered.delegates.empty() && *options_.dialect == engine::Dialect::kNative;
    if (flash && !options_.c_output && can_be_c) {
      other = options_;
      other.c_output = true;
      other.pte_output = false;
      add("with --emit c", other, &found);
      other.optimize = engine::Optimize::kFlash;
      add("with --emit c --optimize flash", other, &found);
    }
    // Above the limit, optimization for size takes minutes.
    if (ram && options_.optimize != engine::Optimize::kSize && macs() <= kMacsMax) {
      other = options_;
      other.optimize = engine::Optimize::kSize;
      add("with --optimize size", other, &found);
    }
    if (!compiled_.lowered.delegates.empty()) add_cpu_only(&found);
    add_part(&found);
    return found;
  }

 private:
  static constexpr int64_t kMacsMax = 50'000'000;

  [[nodiscard]] int64_t macs() const {
    int64_t sum = 0;
    for (const ir::Op& op : integer_graph_.ops()) sum += ir::macs_of(integer_graph_, op);
    return sum;
  }

  void add(std::string how, const CompileOptions& options, std::vector<Alternative>* found) const {
    add(std::move(how), options, compiled_.part, off_, found);
  }

  void add(std::string how, const CompileOptions& options,
           const std::shared_ptr<const engine::Part>& part, const CpuOnlyNodes& off,
           std::vector<Alternative>* found) const {
    Program trial;
    CompileReport& report = trial.compiled.report;
    trial.compiled.part = part;
    trial.compiled.integer_graph = integer_graph_;
    report.model = compiled_.report.model;
    report.target = part->name;
    report.inputs = compiled_.report.inputs;
    report.outputs = compiled_.report.outputs;
    const std::map<std::string, int64_t> sizes = memory_sizes(options, *part);
    StageFiles none({});
    const Status built = build(options, arena_limit(*part, sizes), off, &trial, &none);
    if (!built || !set_memory_sizes(sizes, &report).ok()) return;
    report_ops(trial.compiled.lowered, trial.memory_plan, *part->cpu,
               row_ops(trial.compiled.lowered, trial.compiled.subgraphs), &report);
    if (!place(trial.compiled, trial.emitted.program, options, sizes, &report).ok()) return;
    found->push_back({std::move(how), std::move(report)});
  }

  /// Adds the program in which the core executes what the NPU does.
  void add_cpu_only(std::vector<Alternative>* found) const {
    CpuOnlyNodes all = off_;
    for (const ir::Op& op : integer_graph_.ops()) {
      if (!op.source.node.empty()) all.try_emplace(op.source.node, "--engine-off *");
    }
    add("with --engine-off '*'", options_, compiled_.part, all, found);
  }

  /// A part may hold the same integer graph if it has NPUs of the same kinds and the same
  /// arithmetic.
  [[nodiscard]] bool is_like(const engine::Part& part) const {
    const CompileOptions options = with_recipe(asked_, part.recipe);
    const engine::Part& own = *compiled_.part;
    if (options.dialect != options_.dialect) return false;
    if (own.engines.empty() && part.engines.empty()) return true;
    return std::ranges::equal(
               own.engines, part.engines, {}, [](const engine::PartNpu& use) { return use.engine; },
               [](const engine::PartNpu& use) { return use.engine; }) &&
           arithmetic_of(options, part) == arithmetic_of(options_, own);
  }

  /// Adds the smallest part that holds the program: without an NPU, or with one of the same kind.
  void add_part(std::vector<Alternative>* found) const {
    std::vector<std::pair<int64_t, std::shared_ptr<const engine::Part>>> parts;
    for (const std::string& name : engine::part_names()) {
      Result<engine::Part> part = engine::find_part(name);
      if (!part || part->name == compiled_.part->name || !is_like(*part)) continue;
      int64_t bytes = 0;
      for (const engine::PartMemory& memory : part->memories) bytes += memory.bytes;
      const bool complete =
          part->memories.size() > 1 && std::ranges::none_of(part->memories, [](const auto& memory) {
            return memory.bytes == 0;
          });
      if (!complete) continue;
      parts.emplace_back(bytes, std::make_shared<const engine::Part>(std::move(*part)));
    }
    std::ranges::stable_sort(parts, {}, [](const auto& part) { return part.first; });
    CompileOptions other = options_;
    other.memory.clear();
    for (const auto& [bytes, part] : parts) {
      // Code differs between cores by less than the factor 2.
      if (2 * bytes < ram_bytes(compiled_.report) + flash_bytes(compiled_.report)) continue;
      std::vector<Alternative> on_part;
      add(fmt::format("on {}", part->name), other, part, off_, &on_part);
      if (on_part.empty() || !fits(on_part[0].result)) continue;
      found->push_back(std::move(on_part[0]));
      return;
    }
  }

  const CompileOptions& asked_;
  const CompileOptions& options_;
  const CpuOnlyNodes& off_;
  const ir::Graph& integer_graph_;
  const Compiled& compiled_;
};

}  // namespace

std::optional<double> lowest_sqnr_db(const CompileReport& report) {
  std::optional<double> lowest;
  for (size_t i = 0; i < report.quant.output_sqnr_db.size(); ++i) {
    const double decibels = report.quant.output_sqnr_db[i];
    if (has_sqnr(report.quant, i)) lowest = std::min(lowest.value_or(decibels), decibels);
  }
  return lowest;
}

Result<FloatModel> import_model(const fs::path& path, const CompileOptions& options,
                                StageFiles* stages) {
  const Clock clock;
  report_progress(options.progress, "importing");
  THIMBLE_TRY(import_pt2::ImportedModel read, read_model(path, options.shapes));
  FloatModel model{
      path.filename().string(), std::move(read.graph), {}, OpProvenance(std::move(read.nodes)), 0};
  model.provenance.begin(model.imported);
  if (stages->wanted()) THIMBLE_CHECK(stages->save("imported.ir", ir::print(model.imported)));
  THIMBLE_TRY(model.graph, run_passes(model.imported, stages, &model.provenance));
  if (options.io_channels_last) THIMBLE_CHECK(declare_channels_last(&model.graph));
  if (stages->wanted()) THIMBLE_CHECK(stages->save("float.ir", ir::print(model.graph)));
  model.seconds = clock.seconds();
  return model;
}

Status check_options(const FloatModel& model, const CompileOptions& options,
                     const engine::Part& part) {
  THIMBLE_CHECK(check_widths(options, *part.cpu));
  THIMBLE_CHECK(check_choices(model.imported, options.quant, part.name, has_int16(options)));
  THIMBLE_TRY(const CpuOnlyNodes off, engine_off(model.imported, options, part));
  return ok();
}

Result<Calibration> read_calibration(const FloatModel& model, const CompileOptions& options) {
  const bool prequantized = quant::is_prequantized(model.graph);
  Calibration data;
  if (options.calibration == kRandomCalibration) {
    data.random = true;
    if (!prequantized) data.samples = random_samples(model.graph);
    return data;
  }
  if (!options.calibration.empty()) {
    THIMBLE_TRY(data.samples, read_samples(options.calibration, model.graph));
    THIMBLE_CHECK(
        check_samples(data.samples, model.graph, options.calibration.filename().string()));
    data.warnings = pixel_questions(data.samples, model.graph);
  } else if (!prequantized) {
    return bad_input("{}: a float model needs calibration data: --calibrate DATA.npz", model.name);
  }
  return data;
}

Arithmetic arithmetic_of(const CompileOptions& options, const engine::Part& part) {
  quant::QuantSpec spec;
  // ExecuTorch's linear supports only one multiplier for all channels. Thimble's kernel supports
  // both; a single multiplier needs less memory.
  constexpr double kStockToleranceDb = 0.3, kNativeToleranceDb = 0.2;
  const bool stock = options.dialect == engine::Dialect::kStock;
  spec.linear_weights = quant::LinearWeights::kPerTensorIfClose;
  spec.per_tensor_tolerance_db = stock ? kStockToleranceDb : kNativeToleranceDb;
  spec.wide_softmax = !stock && !options.narrow_softmax;
  spec.own_means = !stock;  // ExecuTorch has no mean kernel
  apply_preferences(part, &spec);
  return {spec, *options.observer, *options.equalize, *options.tune, *options.wide_activations};
}

Result<quant::QuantizedModel> quantize_model(const FloatModel& model, const Calibration& data,
                                             const CompileOptions& options,
                                             const Arithmetic& arithmetic) {
  quant::QuantizeOptions quantize_options;
  quantize_options.io = options.io;
  quantize_options.observer = arithmetic.observer;
  quantize_options.wide = wide_choice(options.quant, arithmetic.wide_activations);
  quantize_options.goal = options.goal;
  if (options.goal && options.goal->metric == quant::Metric::kTop1) {
    if (!data.samples.labels) {
      return bad_input("{}: --accuracy top1 needs an array `labels`, one per sample",
                       options.calibration.filename().string());
    }
    quantize_options.goal->labels = *data.samples.labels;
  }
  quantize_options.equalize = arithmetic.equalize;
  quantize_options.tune = arithmetic.tune;
  quantize_options.progress = options.progress;
  // The SQNR in the report is an estimate. For a large network it must not take longer than the
  // calibration.
  constexpr int64_t kLargeMacs = 100'000'000, kSamplesOfLarge = 3;
  int64_t macs = 0;
  for (const ir::Op& op : model.graph.ops()) macs += ir::macs_of(model.graph, op);
  if (macs > kLargeMacs) quantize_options.quality_samples = kSamplesOfLarge;
  if (data.random || !options.measure_quality) quantize_options.quality_samples = 0;
  return quant::quantize(model.graph, data.samples.data, arithmetic.spec, quantize_options);
}

std::optional<int64_t> arena_limit(const engine::Part& part, const CompileOptions& options) {
  return arena_limit(part, memory_sizes(options, part));
}

Result<Program> write_program(const FloatModel& model, const quant::QuantizedModel& quantized,
                              std::shared_ptr<const engine::Part> part,
                              const CompileOptions& options, std::optional<int64_t> sram_bytes,
                              StageFiles* stages) {
  Program program;
  Compiled& compiled = program.compiled;
  CompileReport& report = compiled.report;
  compiled.part = std::move(part);
  report.model = model.name;
  report.target = compiled.part->name;
  report.optimize = options.optimize;
  if (stages->wanted()) THIMBLE_CHECK(stages->save("integer.ir", ir::print(quantized.graph)));
  compiled.integer_graph = quantized.graph;
  const ir::Graph& graph = model.graph;
  report.inputs = report_io(quantized.graph, quantized.graph.inputs(), graph.inputs(), graph);
  report.outputs = report_io(quantized.graph, quantized.graph.outputs(), graph.outputs(), graph);
  THIMBLE_TRY(const CpuOnlyNodes off, engine_off(model.imported, options, *compiled.part));
  report_progress(options.progress, "lowering");
  THIMBLE_CHECK(build(options, sram_bytes, off, &program, stages));
  if (stages->wanted())
    THIMBLE_CHECK(
        stages->save("program.txt", formats::pte::print(program.emitted.program, {false})));
  if (compiled.subgraphs.empty()) {
    THIMBLE_CHECK(save_partition(stages, compiled.part->cpu->engine, program.emitted));
  }
  return program;
}

Result<Compiled> report_program(Program program, const FloatModel& model,
                                const quant::QuantizedModel& quantized,
                                std::shared_ptr<const engine::Part> shared_part,
                                const CompileOptions& options) {
  const engine::Part& part = *shared_part;
  Compiled compiled = std::move(program.compiled);
  compiled.part = std::move(shared_part);
  CompileReport& report = compiled.report;
  report.target = part.name;
  report.parameters = count_parameters(model.graph);
  report.quant = quantized.report;
  warn_of_low_sqnr(&report);
  report.calibrate_seconds = quantized.report.calibrate_seconds + quantized.report.quality_seconds;
  OpProvenance provenance = model.provenance;
  provenance.quantized(model.graph, quantized.graph);
  list_memories(part, compiled.lowered, &report);
  THIMBLE_CHECK(estimate_npu_cycles(program.emitted.program, report.model, part,
                                    &compiled.lowered.delegates));
  report.npu_cycles = sum_cycles(compiled.lowered.delegates);
  const std::vector<RowOp> rows = row_ops(compiled.lowered, compiled.subgraphs);
  report_ops(compiled.lowered, program.memory_plan, *part.cpu, rows, &report);
  report_engines(quantized.graph, program.reasons, program.added, rows, &report);
  THIMBLE_TRY(const ir::Graph whole,
              partition::inline_subgraphs(compiled.lowered.graph, compiled.subgraphs));
  provenance.lowered(quantized.graph, whole, rows, &report);
  THIMBLE_TRY(const CpuOnlyNodes off, engine_off(model.imported, options, part));
  report_engine_off(off, !part.engines.empty(), &report);
  report_delegates(compiled.lowered.delegates, &report);
  report_time(compiled.lowered, part, rows, &report);
  const std::map<std::string, int64_t> sizes = memory_sizes(options, part);
  THIMBLE_CHECK(set_memory_sizes(sizes, &report));
  THIMBLE_CHECK(place(compiled, program.emitted.program, options, sizes, &report));
  compiled.pte = std::move(program.emitted.bytes);
  return compiled;
}

Result<Compiled> compile(const fs::path& path, const CompileOptions& asked) {
  const Clock clock;
  StageFiles stages(asked.save_stages);
  THIMBLE_TRY(engine::Part found, engine::find_part(asked.target));
  const CompileOptions options = with_recipe(asked, found.recipe);
  auto part = std::make_shared<const engine::Part>(std::move(found));
  THIMBLE_TRY(const FloatModel model, import_model(path, options, &stages));
  THIMBLE_CHECK(check_options(model, options, *part));
  THIMBLE_TRY(const Calibration data, read_calibration(model, options));
  THIMBLE_TRY(const quant::QuantizedModel quantized,
              quantize_model(model, data, options, arithmetic_of(options, *part)));
  THIMBLE_TRY(const CpuOnlyNodes off, engine_off(model.imported, options, *part));
  const std::optional<int64_t> limit = arena_limit(*part, options);
  Result<Program> program = write_program(model, quantized, part, options, limit, &stages);
  std::string refusal;  // of an engine that has no schedule within the limit
  if (!program && program.error().kind == ErrorKind::kUnsupported && limit) {
    refusal = program.error().message;
    StageFiles none({});
    Result<Program> whole = write_program(model, quantized, part, options, std::nullopt, &none);
    if (whole) program = std::move(whole);
  }
  if (!program) return program.error();
  THIMBLE_TRY(Compiled compiled,
              report_program(std::move(*program), model, quantized, part, options));
  CompileReport& report = compiled.report;
  report.warnings.insert(report.warnings.begin(), data.warnings.begin(), data.warnings.end());
  if (refusal.empty()) refusal = report.shortage;
  const MemoryUse* const over = first_overflow(report);
  if (over != nullptr || !refusal.empty()) {
    const Alternatives alternatives = {asked, options, off, quantized.graph, compiled};
    if (refusal.empty()) return does_not_fit(report, *over, alternatives.evaluate(over));
    return does_not_fit(report, refusal, alternatives.evaluate(over));
  }
  if (data.random) {
    report.notes.emplace_back(
        "calibrated with random data: sizes and time are valid, results of the model are not");
  }
  report.compile_seconds = clock.seconds();
  return compiled;
}

}  // namespace thimble::driver
