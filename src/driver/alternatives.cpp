// SPDX-License-Identifier: Apache-2.0
#include "driver/alternatives.h"

#include <algorithm>
#include <functional>
#include <map>

#include "driver/build_program.h"
#include "driver/npu_cycles.h"
#include "driver/op_rows.h"
#include "driver/part_memories.h"
#include "driver/recipe.h"
#include "driver/run_time.h"
#include "driver/runtime_work.h"
#include "ir/op_cost.h"

namespace thimble::driver {
namespace {

/// Networks with more MACs are not compiled with --optimize size, which compiles for many budgets.
constexpr int64_t kOptimizeSizeMacsMax = 50'000'000;

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
  explicit Search(const RefusedProgram& refused)
      : refused_(refused), largest_effort_(refused.effort) {}

  Alternatives run(const MemoryUse* over) && {
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
    if (ram && options.optimize != engine::Optimize::kSize) {
      const std::string how = "with --optimize size";
      if (ir::total_macs(refused_.integer_graph) > kOptimizeSizeMacsMax) {
        result_.not_tried.push_back(how);
      } else {
        add_optimized(how, options, engine::Optimize::kSize);
      }
    }
    if (has_delegates) add_cpu_only();
    add_part();
    return std::move(result_);
  }

 private:
  /// Returns true if another compilation is within the limit; its effort counts as the largest one
  /// of its kind. Without a limit of the RAM there is no search for row tiling.
  [[nodiscard]] bool has_effort(bool has_limit = true) const {
    return effort_ + (has_limit ? largest_effort_ : 0) <= kAlternativeEffortMax;
  }

  void add(std::string how, const CompileOptions& options) {
    add(std::move(how), options, refused_.off);
  }

  void add(std::string how, const CompileOptions& options, const CpuOnlyNodes& off) {
    if (!has_effort()) {
      result_.not_tried.push_back(std::move(how));
      return;
    }
    const std::shared_ptr<const engine::Part>& part = refused_.compiled.part;
    const std::optional<int64_t> limit = ram_limit(*part, memory_sizes(options, *part));
    std::optional<Program> program = build(options, limit, part, off);
    if (program) add(std::move(how), report(std::move(*program), options, part));
  }

  void add_optimized(std::string how, CompileOptions options, engine::Optimize optimize) {
    options.optimize = optimize;
    add(std::move(how), options);
  }

  void add(std::string how, std::optional<CompileReport> result) {
    if (result) result_.compiled.push_back({std::move(how), std::move(*result)});
  }

  /// Returns nothing if the graph cannot be compiled in this way.
  [[nodiscard]] std::optional<Program> build(const CompileOptions& options,
                                             std::optional<int64_t> sram_bytes,
                                             const std::shared_ptr<const engine::Part>& part,
                                             const CpuOnlyNodes& off) {
    Program trial;
    trial.compiled.part = part;
    trial.compiled.integer_graph = refused_.integer_graph;
    CompileReport& report = trial.compiled.report;
    report.model = refused_.compiled.report.model;
    report.inputs = refused_.compiled.report.inputs;
    report.outputs = refused_.compiled.report.outputs;
    StageFiles none({});
    const bool built = build_program(options, sram_bytes, off, &trial, &none).ok();
    effort_ += trial.effort;
    if (sram_bytes) largest_effort_ = std::max(largest_effort_, trial.effort);
    return built ? std::optional(std::move(trial)) : std::nullopt;
  }

  /// Returns the report with sizes and time. The part has the core and the engines for which the
  /// program was built.
  [[nodiscard]] static std::optional<CompileReport> report(
      Program trial, const CompileOptions& options,
      const std::shared_ptr<const engine::Part>& part) {
    trial.compiled.part = part;
    CompileReport& report = trial.compiled.report;
    engine::Lowered& lowered = trial.compiled.lowered;
    report.target = part->name;
    const std::map<std::string, int64_t> sizes = memory_sizes(options, *part);
    list_memories(*part, lowered, &report);
    if (!set_memory_sizes(sizes, &report)) return std::nullopt;
    const std::vector<RowOp> rows = row_ops(lowered, trial.compiled.subgraphs);
    report_ops(lowered, trial.memory_plan, *part->cpu, rows, &report);
    if (!place_in_memories(trial.compiled, trial.emitted.program, options, sizes, &report)) {
      return std::nullopt;
    }
    if (fits(report) &&
        estimate_npu_cycles(trial.emitted.program, report.model, *part, &lowered.delegates)) {
      if (options.pte_output || !options.c_output) {
        report.runtime_work = runtime_work(trial.emitted.program);
      }
      report_time(lowered, *part, rows,
                  operand_memories(*part, report.placement, &trial.emitted.program), &report);
    }
    return std::move(report);
  }

  /// Adds the program in which the core executes what the NPU does.
  void add_cpu_only() {
    CpuOnlyNodes all = refused_.off;
    for (const ir::Op& op : refused_.integer_graph.ops()) {
      if (!op.source.node.empty()) all.try_emplace(op.source.node, "--engine-off *");
    }
    add("with --engine-off '*'", refused_.options, all);
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
    bool all_tried = true;
    for (const auto& [bytes, part] : parts) {
      std::optional<CompileReport> result = on_part(part, bytes, options, &all_tried);
      if (!result || !fits(*result)) continue;
      add(fmt::format("on {}", part->name), std::move(result));
      return;
    }
    if (!all_tried) result_.not_tried.emplace_back("other parts");
  }

  /// Returns nothing if the part is too small, or if it is not tried.
  [[nodiscard]] std::optional<CompileReport> on_part(
      const std::shared_ptr<const engine::Part>& part, int64_t bytes, const CompileOptions& options,
      bool* all_tried) {
    const CompileReport& own = refused_.compiled.report;
    // Code differs between cores by less than the factor 2.
    if (2 * bytes < ram_bytes(own) + flash_bytes(own)) return std::nullopt;
    const std::optional<int64_t> limit = ram_limit(*part, memory_sizes(options, *part));
    if (part->engines.empty()) {
      // Without engines, a program that fits without a limit is the same with it.
      const Program* const whole = without_limit(part, options, all_tried);
      if (whole == nullptr) return std::nullopt;
      const CompileReport& sizes = whole->compiled.report;
      if (flash_bytes(sizes) > bytes) return std::nullopt;
      if (!limit || ram_bytes(sizes) <= *limit) return report(*whole, options, part);
    }
    if (!has_effort()) {
      *all_tried = false;
      return std::nullopt;
    }
    std::optional<Program> program = build(options, limit, part, refused_.off);
    if (!program) return std::nullopt;
    return report(std::move(*program), options, part);
  }

  /// The program without a limit of the RAM, built once for each core. Null if it cannot be built,
  /// or if it is not tried.
  [[nodiscard]] const Program* without_limit(const std::shared_ptr<const engine::Part>& part,
                                             const CompileOptions& options, bool* all_tried) {
    const auto known = by_core_.find(part->cpu->name);
    if (known != by_core_.end()) return known->second ? &*known->second : nullptr;
    if (!has_effort(false)) {
      *all_tried = false;
      return nullptr;
    }
    std::optional<Program>& built = by_core_[std::string(part->cpu->name)];
    built = build(options, std::nullopt, part, refused_.off);
    return built ? &*built : nullptr;
  }

  const RefusedProgram& refused_;
  int64_t effort_ = 0;      // of all compilations until now
  int64_t largest_effort_;  // of one with a limit of the RAM
  Alternatives result_;
  std::map<std::string, std::optional<Program>, std::less<>> by_core_;
};

}  // namespace

Alternatives find_alternatives(const RefusedProgram& refused, const MemoryUse* over) {
  return Search(refused).run(over);
}

}  // namespace thimble::driver
