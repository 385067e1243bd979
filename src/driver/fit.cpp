// SPDX-License-Identifier: Apache-2.0
#include "driver/fit.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <mutex>
#include <set>

#include "base/cancel.h"
#include "base/parallel.h"
#include "driver/does_not_fit.h"
#include "driver/missing_waits.h"
#include "driver/part_memories.h"
#include "driver/recipe.h"
#include "driver/report.h"
#include "driver/run_time.h"
#include "quant/tied.h"

namespace thimble::driver {
namespace {

using SharedPart = std::shared_ptr<const engine::Part>;

/// A part with the options that apply to it.
struct Target {
  SharedPart part;
  CompileOptions options;
  std::string refusal;  // why the options are not those of the part; may be empty
};

/// One quantization of a model, for all parts with this arithmetic.
struct Variant {
  Arithmetic arithmetic;
  quant::QuantizedModel quantized;
  std::optional<Error> error;
};

/// A model with its variants.
struct Prepared {
  FloatModel model;
  Calibration data;
  std::vector<Variant> variants;
  std::vector<size_t> variant_of;  // by part
};

/// Reports the progress of all threads.
class ProgressSteps {
 public:
  ProgressSteps(const FitOptions& options, int64_t all) : options_(options), all_(all) {}
  void done() {
    const std::lock_guard lock(mutex_);
    ++done_;
    report_progress(options_.progress, "", done_, all_);
  }

 private:
  const FitOptions& options_;
  int64_t all_;
  int64_t done_ = 0;
  std::mutex mutex_;
};

/// Returns the message without the model's name and without further lines.
std::string short_reason(const std::string& message, const std::string& model) {
  std::string_view text = message;
  text = text.substr(0, text.find('\n'));
  for (const std::string& prefix : {model + ": ", std::string("does not fit: ")}) {
    if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  }
  return std::string(text);
}

/// Returns the largest number of bytes of SRAM that the requirements allow.
std::optional<int64_t> sram_budget(const std::vector<Condition>& requirements) {
  std::optional<int64_t> budget;
  for (const Condition& requirement : requirements) {
    if (requirement.name != "sram") continue;
    const double bound = requirement.value;
    const bool or_equal = requirement.relation == Relation::kLessEqual;
    const auto bytes = static_cast<int64_t>(or_equal ? bound : std::ceil(bound) - 1);
    budget = std::min(budget.value_or(bytes), bytes);
  }
  return budget;
}

std::optional<int64_t> ram_limit_of(const Target& target) {
  return ram_limit(*target.part, memory_sizes(target.options, *target.part));
}

/// Returns the size of the part's SRAM; nothing if the part's file does not state it.
std::optional<int64_t> sram_size(const engine::Part& part) {
  const auto sram = std::ranges::find(part.memories, "sram", &engine::PartMemory::name);
  const bool known = sram != part.memories.end() && sram->bytes > 0;
  return known ? std::optional(sram->bytes) : std::nullopt;
}

Result<std::vector<Target>> find_targets(const FitOptions& options) {
  std::vector<Target> targets;
  for (const std::string& name : options.parts) {
    THIMBLE_TRY(engine::Part part, engine::find_part(name));
    CompileOptions own = with_recipe(options.compile, part.recipe);
    std::string refusal;
    if (const std::string& memory = options.compile.kernel_code; !memory.empty()) {
      if (const Status known = engine::check_kernel_code(part, memory); !known.ok()) {
        refusal = known.error().message;
      }
      part.recipe.kernel_code = memory;
    }
    // The requirement on the SRAM is a budget, as --memory sram=BYTES.
    const std::optional<int64_t> budget = sram_budget(options.requirements);
    if (budget && *budget > 0 && !part.has_memory_speeds()) {
      own.memory["sram"] = std::min(*budget, sram_size(part).value_or(*budget));
    }
    own.measure_quality = false;
    targets.push_back({std::make_shared<const engine::Part>(std::move(part)), std::move(own),
                       std::move(refusal)});
  }
  // No part has a memory of this name: it is a mistake of the option.
  const bool none =
      std::ranges::all_of(targets, [](const Target& t) { return !t.refusal.empty(); });
  if (none && !targets.empty()) return bad_input("{}", targets[0].refusal);
  return targets;
}

/// Imports the model and finds out which parts have the same arithmetic.
Result<Prepared> prepare(const FitModel& model, const std::vector<Target>& targets,
                         const CompileOptions& options) {
  StageFiles none({});
  CompileOptions own = options;
  own.calibration = model.calibration;
  own.samples = model.samples;
  THIMBLE_TRY(FloatModel imported, import_model(model.path, own, &none));
  release_imported_constants(&imported);
  THIMBLE_TRY(Calibration data, read_calibration(imported, own));
  Prepared prepared{std::move(imported), std::move(data), {}, {}};
  const bool has_tables = quant::reads_tables(prepared.model.graph);
  for (const Target& target : targets) {
    Arithmetic arithmetic = arithmetic_of(target.options, *target.part);
    arithmetic.spec.tied_tables = arithmetic.spec.tied_tables && has_tables;
    const auto known = std::ranges::find(prepared.variants, arithmetic, &Variant::arithmetic);
    prepared.variant_of.push_back(static_cast<size_t>(known - prepared.variants.begin()));
    if (known == prepared.variants.end()) prepared.variants.push_back({arithmetic, {}, {}});
  }
  return prepared;
}

/// Quantizes the model with each arithmetic. A model that one arithmetic does not support is no
/// error: other parts may support it.
Status quantize_all(const std::vector<Target>& targets, Prepared* prepared, ProgressSteps* steps) {
  for (size_t i = 0; i < prepared->variants.size(); ++i) {
    Variant& variant = prepared->variants[i];
    const auto first = std::ranges::find(prepared->variant_of, i) - prepared->variant_of.begin();
    Result<quant::QuantizedModel> quantized =
        quantize_model(prepared->model, prepared->data, targets[static_cast<size_t>(first)].options,
                       variant.arithmetic);
    steps->done();
    if (quantized) {
      variant.quantized = std::move(*quantized);
    } else if (quantized.error().kind == ErrorKind::kUnsupported) {
      variant.error = quantized.error();
    } else {
      return quantized.error();
    }
  }
  return ok();
}

/// Returns true for flash. The report lists sram and flash also for a part whose file does not.
bool is_kept(const std::string& memory, const engine::Part& part) {
  const auto known = std::ranges::find(part.memories, memory, &engine::PartMemory::name);
  return memory == "flash" || (known != part.memories.end() && known->kept);
}

/// Returns the bytes of the arena that are in a memory outside of the chip.
int64_t external_arena_bytes(const Compiled& compiled) {
  int64_t bytes = 0;
  if (!compiled.report.placement) return bytes;
  for (const PlacedObject& object : compiled.report.placement->objects) {
    const auto memory =
        std::ranges::find(compiled.part->memories, object.memory, &engine::PartMemory::name);
    const bool external = memory != compiled.part->memories.end() && memory->external;
    if (object.contents == engine::MemoryContents::kArena && external) bytes += object.bytes;
  }
  return bytes;
}

/// SRAM: what the program needs of the RAM on the chip: on a part with several such memories, the
/// sum over them, without code and weights that are copied there for speed. Flash: program and
/// code.
void fill_memories(const Compiled& compiled, FitRow* row) {
  const CompileReport& report = compiled.report;
  row->memories = report.memories;
  row->input_bytes = application_input_bytes(report);
  row->inputs_too_large = inputs_too_large(report);
  row->has_several_rams = std::ranges::count_if(report.memories, [&](const MemoryUse& use) {
                            return !is_kept(use.name, *compiled.part);
                          }) > 1;
  if (compiled.part->has_memory_speeds()) {
    row->figures.sram_bytes =
        static_cast<double>(ram_bytes(report) - external_arena_bytes(compiled));
  } else {
    row->figures.sram_bytes = static_cast<double>(sram_bytes_of(report));
  }
  row->figures.flash_bytes = static_cast<double>(flash_bytes(report));
}

/// The share of an engine is that of the MACs, or of the operators in a model without MACs.
void fill_engines(const Compiled& compiled, FitRow* row) {
  const std::vector<OpReport>& ops = compiled.report.ops;
  int64_t macs = 0;
  for (const OpReport& op : ops) macs += op.macs;
  const auto weight = [&](const OpReport& op) { return macs > 0 ? op.macs : 1; };
  std::map<std::string, int64_t> weights;
  int64_t all = 0, cpu = 0;
  for (const OpReport& op : ops) {
    all += weight(op);
    if (op.engine == compiled.part->cpu->engine) {
      cpu += weight(op);
    } else {
      weights[op.engine] += weight(op);
    }
  }
  constexpr double kPercent = 100;
  const auto share = [&](int64_t part) {
    return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
  };
  row->npu_share = share(all - cpu);
  for (const auto& [engine, sum] : weights) {
    row->engines += fmt::format("{}{} {:.0f} %", row->engines.empty() ? "" : ", ", engine,
                                kPercent * share(sum));
  }
  if (row->engines.empty()) row->engines = compiled.part->cpu->name;
}

/// Returns why a requirement that the stated time meets is not known to be met: the time lacks wait
/// states, which make it longer, or is one of operators with inaccurate estimates. Empty if it is
/// met.
std::string unknown_time(const Condition& requirement, const FitRow& row) {
  if (requirement.name != "latency") return "";
  if (!row.memories_without_waits.empty()) {
    return "the time lacks " + missing_waits_text(row.memories_without_waits);
  }
  if (row.marked_percent <= kMarkedPercentMax) return "";
  return fmt::format("{:.0f} % of the time is of operators with an inaccurate estimate",
                     row.marked_percent);
}

/// Compares the figures with the requirements. A violated requirement takes precedence over an
/// unknown figure, and the first unknown figure is the reason. `unknown_size`: says which memory of
/// the part has no stated size; may be empty.
void apply_requirements(const std::vector<Condition>& requirements, const std::string& unknown_size,
                        FitRow* row) {
  if (!row->reason.empty()) return;
  std::string unknown = unknown_size;
  for (const Condition& requirement : requirements) {
    const std::optional<bool> met = is_met(requirement, row->figures);
    if (met && !*met) {
      row->fits = Fits::kNo;
      row->reason = requirement.text;
      return;
    }
    const std::string why = met ? unknown_time(requirement, *row) : "not known";
    if (!why.empty() && unknown.empty()) unknown = fmt::format("{}: {}", requirement.text, why);
  }
  row->fits = unknown.empty() ? Fits::kYes : Fits::kUnknown;
  row->reason = unknown;
}

/// Identifies the integer graph of a compiled model: parts with the same text have the same one.
/// Only engines that adapt the graph to their arithmetic can change it.
std::string graph_key(size_t variant, const engine::Part& part) {
  std::string key = std::to_string(variant);
  for (const engine::PartNpu& use : part.engines) {
    if (use.engine->adapt == nullptr) continue;
    key += " " + use.name;
    for (const auto& [name, value] : use.settings) key += fmt::format(" {}={}", name, value);
  }
  return key;
}

/// Parts with the same text have the same program.
std::string program_key(size_t variant, const Target& target, std::optional<int64_t> sram_bytes) {
  const engine::Part& part = *target.part;
  const engine::Recipe& recipe = part.recipe;
  std::string key =
      fmt::format("{} {} {} {} {}", variant, part.cpu->name, sram_bytes.value_or(-1),
                  static_cast<int>(*target.options.dialect), *target.options.keep_small);
  if (part.engines.empty()) return key;
  key +=
      fmt::format(" {} {}", recipe.minimum_steps.value_or(-1), fmt::join(recipe.engine_off, " "));
  for (const engine::PartNpu& use : part.engines) {
    key += fmt::format("\n{} {} {}", use.name, use.system, use.memory_mode);
    for (const auto& [name, value] : use.settings) key += fmt::format(" {}={}", name, value);
  }
  return key;
}

struct Evaluation {
  std::optional<ir::Graph> integer;
  FitQuality quality;
  std::optional<Error> error;
};

/// Compiles one model for all parts.
class ModelFitter {
 public:
  ModelFitter(const Prepared& prepared, const std::vector<Target>& targets,
              const FitOptions& options)
      : prepared_(prepared),
        targets_(targets),
        options_(options),
        rows_(targets.size()),
        unknown_sizes_(targets.size()) {}

  /// By part: true if an earlier part has the same program. To compile the others first keeps all
  /// threads busy, because a thread waits for a program that another one writes.
  [[nodiscard]] std::vector<bool> shares_program() const {
    std::vector<bool> shares;
    std::set<std::string> keys;
    for (size_t i = 0; i < targets_.size(); ++i) {
      const std::string key =
          program_key(prepared_.variant_of[i], targets_[i], first_limit(targets_[i]));
      shares.push_back(!keys.insert(key).second);
    }
    return shares;
  }

  void compile(size_t index) {
    const Target& target = targets_[index];
    FitRow& row = rows_[index];
    row.part = target.part->name;
    row.reason = target.refusal;
    if (!row.reason.empty()) return;
    const size_t which = prepared_.variant_of[index];
    const std::string& model = prepared_.model.name;
    if (const std::optional<Error>& error = prepared_.variants[which].error) {
      row.reason = short_reason(error->message, model);
      return;
    }
    Result<Compiled> compiled = compile_for(target, which);
    if (!compiled && compiled.error().kind != ErrorKind::kUnsupported) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = compiled.error();
      return;
    }
    if (!compiled) {
      row.reason = short_reason(compiled.error().message, model);
      return;
    }
    if (!compiled->report.shortage.empty()) {
      row.reason = short_reason(compiled->report.shortage, model);
      return;
    }
    fill_memories(*compiled, &row);
    fill_engines(*compiled, &row);
    row.figures.latency_us = compiled->report.time_us;
    row.time_error_percent = compiled->report.time_error_percent;
    row.memories_without_waits = compiled->report.memories_without_waits;
    row.marked_percent = compiled->report.marked_percent;
    check_memories(index, compiled->report);
    if (prepared_.data.random || !options_.evaluate) return;
    const std::lock_guard lock(mutex_);
    Evaluation& evaluation = evaluations_[graph_key(which, *target.part)];
    if (!evaluation.integer) evaluation.integer = std::move(compiled->integer_graph);
  }

  /// Measures each integer graph once. Returns an error of compile(), if there was one.
  Status evaluate() {
    if (error_) return *error_;
    std::vector<Evaluation*> all;
    for (auto& [key, evaluation] : evaluations_) all.push_back(&evaluation);
    for_each_index(static_cast<int64_t>(all.size()), machine_threads(), [&](int64_t i, int) {
      Evaluation& evaluation = *all[static_cast<size_t>(i)];
      const Result<FitQuality> quality =
          options_.evaluate(prepared_.model, prepared_.data.samples, *evaluation.integer);
      if (quality) {
        evaluation.quality = *quality;
      } else {
        evaluation.error = quality.error();
      }
    });
    for (const Evaluation* evaluation : all) {
      if (evaluation->error) return *evaluation->error;
    }
    for (size_t i = 0; i < rows_.size(); ++i) {
      const auto found = evaluations_.find(graph_key(prepared_.variant_of[i], *targets_[i].part));
      if (found == evaluations_.end() || !rows_[i].figures.flash_bytes) continue;
      rows_[i].figures.sqnr_db = found->second.quality.sqnr_db;
      rows_[i].figures.accuracy = found->second.quality.accuracy;
    }
    return ok();
  }

  ModelFit result() {
    for (size_t i = 0; i < rows_.size(); ++i) {
      apply_requirements(options_.requirements, unknown_sizes_[i], &rows_[i]);
    }
    std::vector<std::string> warnings = prepared_.data.warnings;
    const std::string low = low_sqnr_warning();
    if (!low.empty()) warnings.push_back(low);
    return {prepared_.model.name, prepared_.data.random, std::move(warnings),
            static_cast<int64_t>(prepared_.variants.size()), std::move(rows_)};
  }

 private:
  /// Returns the warning of the lowest SQNR, with the number of parts; empty if none is low.
  [[nodiscard]] std::string low_sqnr_warning() const {
    const FitQuality* worst = nullptr;
    for (const auto& [key, evaluation] : evaluations_) {
      const FitQuality& quality = evaluation.quality;
      if (quality.sqnr_db && (worst == nullptr || *quality.sqnr_db < *worst->sqnr_db)) {
        worst = &quality;
      }
    }
    if (worst == nullptr) return "";
    std::string warning = sqnr_warning(worst->worst_output, *worst->sqnr_db);
    const auto parts = std::ranges::count_if(rows_, [](const FitRow& row) {
      return row.figures.sqnr_db && *row.figures.sqnr_db < kLowSqnrDb;
    });
    if (warning.empty() || parts == std::ssize(rows_)) return warning;
    return warning +
           fmt::format(" (an SQNR under {} dB on {} of {} parts)", kLowSqnrDb, parts, rows_.size());
  }

  /// A program that several parts share. The first thread that needs it writes it.
  struct SharedProgram {
    std::once_flag written;
    std::optional<Result<Program>> program;
  };

  /// Sets the reason of a row whose program is too large for a memory of the part.
  void check_memories(size_t index, const CompileReport& report) {
    const engine::Part& part = *targets_[index].part;
    const std::optional<int64_t> size = sram_size(part);
    if (!size && !part.has_memory_speeds()) {
      unknown_sizes_[index] = "sram: the part's file states no size";
    }
    const MemoryUse* const over = first_overflow(report);
    if (over == nullptr) return;
    int64_t allowed = over->bytes_size;
    if (over->name == "sram" && !part.has_memory_speeds()) {
      // The limit of the report may be the budget of a requirement, which is smaller than the SRAM.
      // apply_requirements() compares the program with the budget.
      if (!size || over->bytes_used <= *size) return;
      allowed = *size;
    }
    rows_[index].reason = fmt::format("{} needs {} B, {} B allowed", over->name,
                                      with_commas(over->bytes_used), with_commas(allowed));
  }

  /// Without engines, a program that fits without a limit is the same with it.
  static std::optional<int64_t> first_limit(const Target& target) {
    if (target.part->engines.empty()) return std::nullopt;
    return ram_limit_of(target);
  }

  const Result<Program>& program_for(const Target& target, size_t which,
                                     std::optional<int64_t> sram_bytes) {
    const std::string key = program_key(which, target, sram_bytes);
    SharedProgram* shared = nullptr;
    {
      const std::lock_guard lock(mutex_);
      shared = &programs_[key];
    }
    std::call_once(shared->written, [&] {
      StageFiles none({});
      shared->program.emplace(write_program(prepared_.model, prepared_.variants[which].quantized,
                                            target.part, target.options, sram_bytes, &none));
    });
    return *shared->program;
  }

  /// On a part with memory speeds, the requirement on the SRAM limits the arena of the program, as
  /// --memory does on other parts. Returns the smaller program, if there is one.
  const Result<Program>& within_budget(const Target& target, size_t which,
                                       const Result<Program>& program) {
    const std::optional<int64_t> budget = sram_budget(options_.requirements);
    if (!budget || !target.part->has_memory_speeds()) return program;
    const CompileReport& report = program->compiled.report;
    const int64_t arena_bytes = *budget - (ram_bytes(report) - report.arena_bytes);
    if (arena_bytes <= 0 || arena_bytes >= report.arena_bytes) return program;
    const Result<Program>& smaller = program_for(target, which, arena_bytes);
    return smaller ? smaller : program;
  }

  Result<Compiled> compile_for(const Target& target, size_t which) {
    THIMBLE_CHECK(check_options(prepared_.model, target.options, *target.part));
    const std::optional<int64_t> first = first_limit(target);
    const std::optional<int64_t> limit = ram_limit_of(target);
    const Result<Program>* program = &program_for(target, which, first);
    if (!first && limit && *program && ram_bytes((*program)->compiled.report) > *limit) {
      program = &program_for(target, which, limit);
    }
    if (!*program) return program->error();
    program = &within_budget(target, which, *program);
    return report_program(**program, prepared_.model, prepared_.variants[which].quantized,
                          target.part, target.options);
  }

  const Prepared& prepared_;
  const std::vector<Target>& targets_;
  const FitOptions& options_;
  std::vector<FitRow> rows_;
  std::vector<std::string> unknown_sizes_;  // by part, as the argument of apply_requirements()
  std::mutex mutex_;
  std::optional<Error> error_;  // the first one that no other part can help with
  std::map<std::string, Evaluation> evaluations_;
  std::map<std::string, SharedProgram> programs_;
};

}  // namespace

Result<FitResult> fit(const std::vector<FitModel>& models, const FitOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  THIMBLE_TRY(const std::vector<Target> targets, find_targets(options));
  std::vector<Prepared> prepared;
  for (const FitModel& model : models) {
    THIMBLE_TRY(Prepared one, prepare(model, targets, options.compile));
    prepared.push_back(std::move(one));
  }
  size_t quantizations = 0;
  for (const Prepared& one : prepared) quantizations += one.variants.size();
  ProgressSteps steps(options,
                      static_cast<int64_t>(quantizations + models.size() * targets.size()));
  std::vector<std::unique_ptr<ModelFitter>> fitters;
  for (Prepared& one : prepared) {
    THIMBLE_CHECK(quantize_all(targets, &one, &steps));
    fitters.push_back(std::make_unique<ModelFitter>(one, targets, options));
  }
  struct Task {
    ModelFitter* fitter;
    size_t part;
    bool shares;
  };
  std::vector<Task> tasks;
  for (const auto& fitter : fitters) {
    const std::vector<bool> shares = fitter->shares_program();
    for (size_t i = 0; i < targets.size(); ++i) tasks.push_back({fitter.get(), i, shares[i]});
  }
  // clang 14 does not compile std::ranges::stable_partition of GCC's library.
  std::stable_partition(tasks.begin(), tasks.end(), [](const Task& task) { return !task.shares; });
  for_each_index(static_cast<int64_t>(tasks.size()), machine_threads(), [&](int64_t i, int) {
    const Task& task = tasks[static_cast<size_t>(i)];
    if (is_cancelled()) return;
    task.fitter->compile(task.part);
    steps.done();
  });
  THIMBLE_CHECK(check_cancelled());
  FitResult result;
  for (const auto& fitter : fitters) {
    THIMBLE_CHECK(fitter->evaluate());
    result.models.push_back(fitter->result());
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

namespace {

struct SortKey {
  std::string_view name;
  std::optional<double> Figures::*figure;
  bool descending;
};
constexpr SortKey kSortKeys[] = {
    {"accuracy", &Figures::accuracy, true}, {"flash", &Figures::flash_bytes, false},
    {"sqnr", &Figures::sqnr_db, true},      {"sram", &Figures::sram_bytes, false},
    {"time", &Figures::latency_us, false},
};

/// Returns true if `a` is before `b` by this key alone.
bool is_before(const SortKey& key, const FitRow& a, const FitRow& b) {
  const std::optional<double>& left = a.figures.*key.figure;
  const std::optional<double>& right = b.figures.*key.figure;
  if (!left || !right) return left.has_value() && !right;
  return key.descending ? *left > *right : *left < *right;
}

}  // namespace

std::vector<std::string> fit_sort_keys() {
  std::vector<std::string> names = {"fits", "part"};
  for (const SortKey& key : kSortKeys) names.emplace_back(key.name);
  return names;
}

void sort_rows(const std::string& key, std::vector<FitRow>* rows) {
  std::ranges::stable_sort(*rows, {}, &FitRow::part);
  if (key == "part") return;
  const std::string_view by = key == "fits" ? "time" : std::string_view(key);
  const auto* const chosen = std::ranges::find(kSortKeys, by, &SortKey::name);
  if (chosen == std::end(kSortKeys)) return;
  std::ranges::stable_sort(
      *rows, [&](const FitRow& a, const FitRow& b) { return is_before(*chosen, a, b); });
  if (key == "fits") std::ranges::stable_sort(*rows, {}, &FitRow::fits);
}

}  // namespace thimble::driver
