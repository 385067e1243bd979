#include "driver/alternatives.h"

#include <algorithm>

#include "driver/build_program.h"
#include "driver/op_rows.h"
#include "driver/part_memories.h"
#include "driver/recipe.h"
#include "ir/op_cost.h"

namespace thimble::driver {
namespace {

/// Larger networks are not compiled with --optimize size, which would take minutes.
constexpr int64_t kOptimizeSizeMacsMax = 50'000'000;

int64_t macs_of(const ir::Graph& graph) {
  int64_t sum = 0;
  for (const ir::Op& op : graph.ops()) sum += ir::macs_of(graph, op);
  return sum;
}

/// Sum of the part's memories; nothing if a size is not known.
std::optional<int64_t> known_bytes(const engine::Part& part) {
  if (part.memories.size() < 2) return std::nullopt;  // flash or SRAM is not listed
  int64_t bytes = 0;
  for (const engine::PartMemory& memory : part.memories) {
    if (memory.bytes == 0) return std::nullopt;
    bytes += memory.bytes;
  }
  return bytes;
}

class Search {
 public:
  explicit Search(const RefusedProgram& refused) : refused_(refused) {}

  std::vector<Alternative> run(const MemoryUse* over) && {
    const CompileOptions& options = refused_.options;
    const bool flash = over == nullptr || over->name == "flash";
    const bool ram = over == nullptr || over->name != "flash";
    const bool has_delegates = !refused_.compiled.lowered.delegates.empty();
    if (flash && options.optimize != engine::Optimize::kFlash) {
      add_optimized("with --optimize flash", options, engine::Optimize::kFlash);
    }
    if (flash && !options.c_output && !has_delegates &&
        *options.dialect == engine::Dialect::kNative) {
      CompileOptions c_only = options;
      c_only.c_output = true;
      c_only.pte_output = false;
      add("with --emit c", c_only);
      add_optimized("with --emit c --optimize flash", c_only, engine::Optimize::kFlash);
    }
    if (ram && options.optimize != engine::Optimize::kSize &&
        macs_of(refused_.integer_graph) <= kOptimizeSizeMacsMax) {
      add_optimized("with --optimize size", options, engine::Optimize::kSize);
    }
    if (has_delegates) add_cpu_only();
    add_part();
    return std::move(found_);
  }

 private:
  void add(std::string how, const CompileOptions& options) {
    add(std::move(how), compile(options, refused_.compiled.part, refused_.off));
  }

  void add_optimized(std::string how, CompileOptions options, engine::Optimize optimize) {
    options.optimize = optimize;
    add(std::move(how), options);
  }

  void add(std::string how, std::optional<CompileReport> result) {
    if (result) found_.push_back({std::move(how), std::move(*result)});
  }

  /// Returns the report with the sizes; nothing if the graph cannot be compiled in this way.
  [[nodiscard]] std::optional<CompileReport> compile(
      const CompileOptions& options, const std::shared_ptr<const engine::Part>& part,
      const CpuOnlyNodes& off) const {
    Program trial;
    CompileReport& report = trial.compiled.report;
    trial.compiled.part = part;
    trial.compiled.integer_graph = refused_.integer_graph;
    report.model = refused_.compiled.report.model;
    report.target = part->name;
    report.inputs = refused_.compiled.report.inputs;
    report.outputs = refused_.compiled.report.outputs;
    const std::map<std::string, int64_t> sizes = memory_sizes(options, *part);
    StageFiles none({});
    if (!build_program(options, ram_limit(*part, sizes), off, &trial, &none)) return std::nullopt;
    if (!set_memory_sizes(sizes, &report)) return std::nullopt;
    report_ops(trial.compiled.lowered, trial.memory_plan, *part->cpu,
               row_ops(trial.compiled.lowered, trial.compiled.subgraphs), &report);
    if (!place_in_memories(trial.compiled, trial.emitted.program, options, sizes, &report)) {
      return std::nullopt;
    }
    return std::move(report);
  }

  /// Adds the program in which the core executes what the NPU does.
  void add_cpu_only() {
    CpuOnlyNodes all = refused_.off;
    for (const ir::Op& op : refused_.integer_graph.ops()) {
      if (!op.source.node.empty()) all.try_emplace(op.source.node, "--engine-off *");
    }
    add("with --engine-off '*'", compile(refused_.options, refused_.compiled.part, all));
  }

  /// A part may hold the same integer graph if it has NPUs of the same kinds and the same
  /// arithmetic.
  [[nodiscard]] bool is_like(const engine::Part& part) const {
    const CompileOptions options = with_recipe(refused_.asked, part.recipe);
    const engine::Part& own = *refused_.compiled.part;
    if (options.dialect != refused_.options.dialect) return false;
    if (own.engines.empty() && part.engines.empty()) return true;
    return std::ranges::equal(
               own.engines, part.engines, {}, [](const engine::PartNpu& use) { return use.engine; },
               [](const engine::PartNpu& use) { return use.engine; }) &&
           arithmetic_of(options, part) == arithmetic_of(refused_.options, own);
  }

  /// Adds the smallest part that holds the program: without an NPU, or with one of the same kind.
  void add_part() {
    std::vector<std::pair<int64_t, std::shared_ptr<const engine::Part>>> parts;
    for (const std::string& name : engine::part_names()) {
      Result<engine::Part> part = engine::find_part(name);
      if (!part || part->name == refused_.compiled.part->name || !is_like(*part)) continue;
      const std::optional<int64_t> bytes = known_bytes(*part);
      if (!bytes) continue;
      parts.emplace_back(*bytes, std::make_shared<const engine::Part>(std::move(*part)));
    }
    std::ranges::stable_sort(parts, {}, [](const auto& part) { return part.first; });
    CompileOptions options = refused_.options;
    options.memory.clear();
    const CompileReport& own = refused_.compiled.report;
    for (const auto& [bytes, part] : parts) {
      // Code differs between cores by less than the factor 2.
      if (2 * bytes < ram_bytes(own) + flash_bytes(own)) continue;
      std::optional<CompileReport> result = compile(options, part, refused_.off);
      if (!result || !fits(*result)) continue;
      add(fmt::format("on {}", part->name), std::move(result));
      return;
    }
  }

  const RefusedProgram& refused_;
  std::vector<Alternative> found_;
};

}  // namespace

std::vector<Alternative> find_alternatives(const RefusedProgram& refused, const MemoryUse* over) {
  return Search(refused).run(over);
}

}  // namespace thimble::driver
