#include "driver/share_arena.h"

#include "driver/does_not_fit.h"
#include "driver/recipe.h"
#include "emit/emit.h"
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
  const auto limit = options.memory.find("sram");
  if (limit != options.memory.end() && needed > limit->second) {
    return unsupported(
        "--share-arena: does not fit: sram needs {} B for all, {} B of them for variables and the "
        "deepest stack; {} B allowed",
        needed, others, limit->second);
  }
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
