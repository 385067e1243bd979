// SPDX-License-Identifier: Apache-2.0
#include "driver/share_arena.h"

#include <algorithm>

#include "driver/does_not_fit.h"
#include "driver/linked_size.h"
#include "driver/recipe.h"
#include "driver/report.h"
#include "emit/emit.h"
#include "formats/pte/read.h"
#include "memory/shared_arena.h"

namespace thimble::driver {
namespace {

std::string files_of(std::span<const Compiled> models) {
  std::string names;
  for (size_t i = models.size(); i-- > 0;) {
    names += (names.empty() ? "" : ", ") + models[i].report.model;
  }
  return names;
}

Status emit_again(const memory::MemoryPlan& memory_plan, const CompileOptions& asked,
                  Compiled* model) {
  const CompileOptions options = with_recipe(asked, model->part->recipe);
  emit::EmitOptions emit_options = {*options.dialect, options.names, {}};
  CompileReport& report = model->report;
  if (options.names) {
    formats::pte::IoNames names;
    for (const IoReport& input : report.inputs) names.inputs.push_back(input.name);
    for (const IoReport& output : report.outputs) names.outputs.push_back(output.name);
    emit_options.io_names = std::move(names);
  }
  THIMBLE_TRY(emit::Emitted emitted,
              emit::write_program(model->lowered, memory_plan, *model->part->cpu, emit_options));
  model->pte = std::move(emitted.bytes);
  report.pte_bytes = static_cast<int64_t>(model->pte.size());
  report.arena_bytes = memory_plan.placement.peak_bytes;
  report.arena_lower_bound_bytes = memory_plan.placement.lower_bound_bytes;
  if (report.linked && !report.linked->c_output) report.linked->program_bytes = report.pte_bytes;
  for (MemoryUse& memory : report.memories) {
    if (memory.name == "sram") memory.bytes_used = ram_bytes(report);
    if (memory.name == "flash") memory.bytes_used = flash_bytes(report);
  }
  return ok();
}

/// Returns the variables of all models, and the deepest stack: calls of one thread do not overlap.
int64_t variables_and_stack(std::span<const Compiled> models) {
  int64_t variables = 0, stack = 0;
  for (const Compiled& model : models) {
    if (!model.report.linked) continue;
    variables += model.report.linked->static_bytes;
    stack = std::max(stack, model.report.linked->stack_bytes);
  }
  return variables + stack;
}

/// Returns the limit of a memory: the option, or the size that the part states; 0: none.
int64_t limit_of(std::string_view memory, const CompileOptions& options, const engine::Part& part) {
  const auto option = options.memory.find(std::string(memory));
  if (option != options.memory.end()) return option->second;
  const auto own = std::ranges::find(part.memories, memory, &engine::PartMemory::name);
  return own == part.memories.end() ? 0 : own->bytes;
}

Status check_limit(std::string_view memory, int64_t needed, const std::string& of_them,
                   const CompileOptions& options, const engine::Part& part) {
  const int64_t limit = limit_of(memory, options, part);
  if (limit == 0 || needed <= limit) return ok();
  return memory_refusal(
      fmt::format("--share-arena: does not fit: {} needs {} B for all models{}, {} B allowed: {} B "
                  "too large",
                  memory, with_commas(needed), of_them, with_commas(limit),
                  with_commas(needed - limit)),
      memory, needed, limit);
}

/// Checks that the flash holds all programs and their code. Functions of C output are added up.
Status check_flash(std::span<const Compiled> models, const CompileOptions& options) {
  std::vector<formats::pte::Program> programs;
  std::vector<int64_t> sizes;
  int64_t c_bytes = 0;
  for (const Compiled& model : models) {
    if (!model.report.linked || model.report.linked->c_output) {
      c_bytes += flash_bytes(model.report);
      continue;
    }
    THIMBLE_TRY(auto program, formats::pte::read(model.pte, model.report.model));
    programs.push_back(std::move(program));
    sizes.push_back(static_cast<int64_t>(model.pte.size()));
  }
  const engine::Part& part = *models[0].part;
  int64_t needed = c_bytes;
  std::string of_them;
  if (!programs.empty()) {
    THIMBLE_TRY(const std::optional<LinkedSize> linked, linked_size(*part.cpu, programs, sizes));
    if (!linked) return ok();
    needed += linked->flash_bytes();
    of_them = fmt::format(", {} B of them for code", with_commas(linked->code_bytes));
  }
  return check_limit("flash", needed, of_them, options, part);
}

}  // namespace

Result<std::string> share_arena(std::span<Compiled> models, const CompileOptions& options,
                                bool exclusive) {
  std::vector<const engine::Lowered*> lowered;
  for (const Compiled& model : models) {
    lowered.push_back(&model.lowered);
    if (model.part->has_memory_speeds()) {
      return unsupported("{}: --share-arena: the memories of {} are chosen for one model at a time",
                         model.report.model, model.part->name);
    }
    if (model.lowered.delegates.empty()) continue;
    return unsupported("{}: --share-arena does not support models with NPU delegates",
                       model.report.model);
  }
  const memory::SharedArena shared = memory::share_arena(lowered);
  const int64_t others = variables_and_stack(models);
  const int64_t needed = (exclusive ? shared.bytes : shared.separate_bytes) + others;
  THIMBLE_CHECK(check_limit(
      "sram", needed,
      fmt::format(", {} B of them for variables and the deepest stack", with_commas(others)),
      options, *models[0].part));
  THIMBLE_CHECK(check_flash(models, options));
  if (!exclusive) {
    return fmt::format(
        "concurrent: {} B in total, one arena per model; with variables and one stack {} B\n",
        shared.separate_bytes, needed);
  }
  for (size_t i = 0; i < models.size(); ++i) {
    THIMBLE_CHECK(emit_again(shared.memory_plans[i], options, &models[i]));
  }
  return fmt::format(
      "one arena of {} B, used by one model at a time (separate arenas: {} B in total); initialize "
      "in this order: {}; with variables and stack {} B\n",
      shared.bytes, shared.separate_bytes, files_of(models), needed);
}

}  // namespace thimble::driver
