// SPDX-License-Identifier: Apache-2.0
#include "driver/methods.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "abi/named_data.h"
#include "driver/does_not_fit.h"
#include "driver/linked_size.h"
#include "driver/part_memories.h"
#include "driver/recipe.h"
#include "driver/report.h"
#include "driver/stages.h"
#include "emit/emit.h"
#include "memory/shared_arena.h"
#include "quant/joint.h"

namespace thimble::driver {
namespace {

/// The results of the stages of one method.
struct MethodBuild {
  std::string name;
  CompileOptions options;
  std::unique_ptr<FloatModel> model;
  Calibration data;
  std::unique_ptr<quant::QuantizedModel> quantized;
  Program program;
};

Status check_options(std::span<const MethodModel> methods, const CompileOptions& options,
                     const engine::Part& part) {
  std::set<std::string> names;
  for (const MethodModel& method : methods) {
    const bool valid = std::ranges::all_of(method.name, [](char letter) {
      return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
             (letter >= '0' && letter <= '9') || letter == '_';
    });
    if (!valid || method.name.empty() || method.name.size() > abi::kMethodNameMax) {
      return bad_input("--method {}: a name of 1 to {} letters, digits and underscores expected",
                       method.name, abi::kMethodNameMax);
    }
    if (!names.insert(method.name).second) {
      return bad_input("--method {}: two methods have this name", method.name);
    }
  }
  if (*options.dialect != engine::Dialect::kNative) {
    return unsupported(
        "--compat executorch: several methods share their states only in Thimble's dialect; "
        "ExecuTorch's runtime plans the memory of each method alone: compile each method into a "
        "file of its own");
  }
  if (options.c_output) {
    return unsupported("--emit c: C code has one function; several methods require --emit pte");
  }
  if (*options.tune || *options.equalize || options.goal) {
    return unsupported(
        "--tune, --equalize and --accuracy change each method's layers by its own data; several "
        "methods share their layers");
  }
  if (options.keep_float) {
    return unsupported(
        "--float: methods of one file are quantized together: compile each method alone");
  }
  if (options.names) return unsupported("--names: the file has several methods");
  if (part.has_memory_speeds()) {
    return unsupported("several methods: the memories of {} are chosen for one model at a time",
                       part.name);
  }
  return ok();
}

/// Checks that equal states begin with the same content.
Status check_initial_states(std::span<const MethodBuild> builds) {
  const auto initial_of = [](const MethodBuild& build) {
    std::map<std::string, ir::TensorPtr> contents;
    const ir::Graph& graph = build.program.compiled.lowered.graph;
    for (const ir::State& state : graph.states()) {
      contents[graph.value(state.value).name] = state.initial;
    }
    return contents;
  };
  const auto first = initial_of(builds[0]);
  for (const MethodBuild& build : builds.subspan(1)) {
    for (const auto& [name, content] : initial_of(build)) {
      const ir::TensorPtr& expected = first.at(name);
      const bool equal = content == expected || (content != nullptr && expected != nullptr &&
                                                 content->bytes == expected->bytes);
      if (equal) continue;
      return unsupported(
          "methods {} and {}: the state {} has another initial content; methods of one file have "
          "the same states: export them from one model",
          builds[0].name, build.name, name);
    }
  }
  return ok();
}

/// Checks that the methods have the same states.
Status check_states(std::span<const MethodBuild> builds) {
  const auto describe = [](const ir::Graph& graph) {
    std::set<std::string> states;
    for (const ir::State& state : graph.states()) {
      const ir::Type& type = graph.type(state.value);
      std::string text = fmt::format("{} {}[{}]", graph.value(state.value).name,
                                     ir::dtype_name(type.dtype), fmt::join(type.shape, ","));
      if (type.quant)
        text += fmt::format(" {} {}", type.quant->scale[0], type.quant->zero_point[0]);
      text += fmt::format(" order {}", fmt::join(type.dim_order, ","));
      states.insert(text);
    }
    return states;
  };
  const auto first = describe(builds[0].program.compiled.lowered.graph);
  for (const MethodBuild& build : builds.subspan(1)) {
    const auto other = describe(build.program.compiled.lowered.graph);
    std::vector<std::string> only;
    std::ranges::set_symmetric_difference(first, other, std::back_inserter(only));
    if (only.empty()) continue;
    return unsupported(
        "methods {} and {}: their states differ: {}; methods of one file have the "
        "same states, with the same names, types and memory orders",
        builds[0].name, build.name, fmt::join(only, "; "));
  }
  return check_initial_states(builds);
}

/// The methods share the arena, the code and the constants: each report gets the sums of the file.
Status report_file(const emit::Emitted& emitted, const engine::Part& part,
                   const CompileOptions& options, std::vector<Compiled>* methods) {
  std::vector<formats::pte::Program> programs;
  int64_t state_bytes = 0;
  for (const Compiled& method : *methods) state_bytes += method.report.state_bytes;
  for (const formats::pte::ExecutionPlan& plan : emitted.program.plans) {
    formats::pte::Program one = emitted.program;
    one.plans = {plan};
    programs.push_back(std::move(one));
  }
  std::vector<int64_t> sizes(programs.size(), 0);
  sizes[0] = static_cast<int64_t>(emitted.bytes.size());
  THIMBLE_TRY(const std::optional<LinkedSize> linked, linked_size(*part.cpu, programs, sizes));
  for (Compiled& method : *methods) {
    CompileReport& report = method.report;
    report.pte_bytes = sizes[0];
    report.weights_bytes = emitted.constant_bytes;
    report.state_bytes = state_bytes;
    report.linked = linked;
    list_memories(part, method.lowered, &report);
    THIMBLE_CHECK(set_memory_sizes(memory_sizes(options, part), &report));
    const MemoryUse* const over = first_overflow(report);
    if (over != nullptr) return does_not_fit(report, *over, {});
  }
  return ok();
}

/// Imports each method and records the ranges of its values.
Result<std::vector<MethodBuild>> observe_methods(std::span<const MethodModel> methods,
                                                 const CompileOptions& options,
                                                 const engine::Part& part,
                                                 const Arithmetic& arithmetic,
                                                 quant::JointCalibration* joint) {
  StageFiles no_files({});
  std::vector<MethodBuild> builds;
  for (const MethodModel& method : methods) {
    MethodBuild& build = builds.emplace_back();
    build.name = method.name;
    build.options = options;
    build.options.calibration = method.calibration;
    THIMBLE_TRY(FloatModel model, import_model(method.model, build.options, &no_files));
    release_imported_constants(&model);
    model.graph.name = method.name;
    build.model = std::make_unique<FloatModel>(std::move(model));
    THIMBLE_CHECK(check_options(*build.model, build.options, part));
    THIMBLE_TRY(build.data, read_calibration(*build.model, build.options));
    THIMBLE_CHECK(observe_model(*build.model, build.data, build.options, arithmetic, joint));
  }
  return builds;
}

/// Quantizes each method with the ranges of all, and lowers it for the core of the part.
Status lower_methods(std::span<MethodBuild> builds, const std::shared_ptr<const engine::Part>& part,
                     const Arithmetic& arithmetic, quant::JointCalibration* joint) {
  StageFiles no_files({});
  for (MethodBuild& build : builds) {
    THIMBLE_TRY(
        quant::QuantizedModel quantized,
        quantize_model(*build.model, build.data, build.options, arithmetic, {.joint = joint}));
    quantized.graph.name = build.name;
    build.quantized = std::make_unique<quant::QuantizedModel>(std::move(quantized));
    THIMBLE_TRY(build.program, write_program(*build.model, *build.quantized, part, build.options,
                                             std::nullopt, &no_files));
    const size_t delegates = build.program.compiled.lowered.delegates.size();
    if (delegates == 0) continue;
    return unsupported(
        "method {}: {} of its operators run on an NPU, which several methods do not support: use "
        "--target {}",
        build.name, delegates, part->cpu->name);
  }
  return check_states(builds);
}

/// Plans the arena that all methods share, and writes the file.
Result<emit::Emitted> emit_methods(std::span<MethodBuild> builds, const engine::Core& core) {
  std::vector<const engine::Lowered*> lowered;
  for (const MethodBuild& build : builds) lowered.push_back(&build.program.compiled.lowered);
  const std::vector<memory::MemoryPlan> plans = memory::plan_methods(lowered);
  std::vector<emit::Method> methods;
  for (size_t i = 0; i < builds.size(); ++i) {
    methods.push_back({lowered[i], &plans[i]});
    builds[i].program.memory_plan = plans[i];
    CompileReport& report = builds[i].program.compiled.report;
    report.arena_bytes = plans[i].placement.peak_bytes;
    report.arena_lower_bound_bytes = plans[i].placement.lower_bound_bytes;
  }
  return emit::write_methods(methods, core);
}

/// Returns the compiled methods with their reports.
Result<std::vector<Compiled>> report_methods(std::span<MethodBuild> builds,
                                             const std::shared_ptr<const engine::Part>& part) {
  std::vector<Compiled> methods;
  for (MethodBuild& build : builds) {
    THIMBLE_TRY(Compiled compiled, report_program(std::move(build.program), *build.model,
                                                  *build.quantized, part, build.options));
    compiled.pte.clear();
    compiled.report.warnings.insert(compiled.report.warnings.begin(), build.data.warnings.begin(),
                                    build.data.warnings.end());
    methods.push_back(std::move(compiled));
  }
  return methods;
}

}  // namespace

Result<CompiledMethods> compile_methods(std::span<const MethodModel> methods,
                                        const CompileOptions& asked) {
  assert(methods.size() > 1);
  THIMBLE_TRY(engine::Part found, engine::find_part(asked.target));
  const CompileOptions options = with_recipe(asked, found.recipe);
  const auto part = std::make_shared<const engine::Part>(std::move(found));
  THIMBLE_CHECK(check_options(methods, options, *part));

  const Arithmetic arithmetic = arithmetic_of(options, *part);
  quant::JointCalibration joint;
  THIMBLE_TRY(std::vector<MethodBuild> builds,
              observe_methods(methods, options, *part, arithmetic, &joint));
  THIMBLE_CHECK(lower_methods(builds, part, arithmetic, &joint));
  THIMBLE_TRY(emit::Emitted emitted, emit_methods(builds, *part->cpu));
  CompiledMethods result;
  THIMBLE_TRY(result.methods, report_methods(builds, part));
  THIMBLE_CHECK(report_file(emitted, *part, options, &result.methods));
  result.pte = std::move(emitted.bytes);
  return result;
}

std::string methods_json(const CompiledMethods& compiled) {
  const CompileReport& first = compiled.methods[0].report;
  std::string text = fmt::format(
      "{{\"pte_bytes\": {}, \"weights_bytes\": {}, \"arena_bytes\": {}, \"kept_bytes\": {}, "
      "\"state_bytes\": {}, \"methods\": {{",
      first.pte_bytes, first.weights_bytes, first.arena_bytes, first.kept_bytes, first.state_bytes);
  for (size_t i = 0; i < compiled.methods.size(); ++i) {
    text += fmt::format("{}\"{}\": {}", i == 0 ? "" : ", ", compiled.methods[i].lowered.graph.name,
                        json_report(compiled.methods[i].report));
  }
  return text + "}}\n";
}

std::string methods_summary(const CompiledMethods& compiled) {
  std::string text = "methods\n";
  for (const Compiled& method : compiled.methods) {
    const CompileReport& report = method.report;
    std::vector<std::string> inputs;
    for (const IoReport& input : report.inputs) {
      inputs.push_back(fmt::format("{} {}[{}]", input.name, ir::dtype_name(input.type.dtype),
                                   fmt::join(input.type.shape, ",")));
    }
    text += fmt::format("  {:<16}  {} calls; {}\n", method.lowered.graph.name, report.ops.size(),
                        fmt::join(inputs, ", "));
  }
  const CompileReport& first = compiled.methods[0].report;
  text += fmt::format("  shared: arena {} B, of it states {} B; weights {} B; file {} B\n",
                      first.arena_bytes, first.kept_bytes, first.weights_bytes, first.pte_bytes);
  return text;
}

}  // namespace thimble::driver
