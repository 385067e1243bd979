// SPDX-License-Identifier: Apache-2.0
// check_options(): options that contradict the model, the part or each other.

#include <algorithm>

#include "driver/engines.h"
#include "driver/op_selectors.h"
#include "driver/stages.h"
#include "quant/pins.h"

namespace thimble::driver {
namespace {

/// Returns false for ExecuTorch's kernels, which do not support 16-bit activations.
bool has_int16(const CompileOptions& options) {
  return options.dialect == engine::Dialect::kNative;
}

/// Returns true if the part has kernels for weights of 4 bits.
bool has_int4(const CompileOptions& options, const engine::Part& part) {
  return options.dialect == engine::Dialect::kNative && part.engines.empty();
}

std::string_view int4_option(Int4Weights choice) {
  switch (choice) {
    case Int4Weights::kPerGroup:
      return "--weights int4:group=32";
    case Int4Weights::kWithinFlash:
      return "--weights auto";
    default:
      return "--weights int4";
  }
}

/// Rejects weights of 4 bits for targets without kernels for them.
Status check_int4(const CompileOptions& options, const engine::Part& part) {
  if (options.int4 == Int4Weights::kNone || has_int4(options, part)) return ok();
  const std::string_view option = int4_option(options.int4);
  if (!part.engines.empty()) {
    return unsupported("{}: {} has no weights of 4 bits; use a target without an NPU, such as {}",
                       option, part.engines[0].name, part.cpu->name);
  }
  return unsupported("{} with --compat executorch: ExecuTorch has no kernels for it", option);
}

/// Rejects 16-bit activations, which an accuracy goal may also choose, for kernels without them.
Status check_widths(const CompileOptions& options, const engine::Core& core) {
  if (has_int16(options) || (!*options.wide_activations && !options.goal)) return ok();
  return unsupported("{} with {}: ExecuTorch has no kernels for 16-bit activations on {}",
                     *options.wide_activations ? "--activations int16" : "--accuracy",
                     "--compat executorch", core.name);
}

/// Returns the precisions that --quant may choose.
Kernels kernels_of(const CompileOptions& options, const engine::Part& part) {
  const bool native = options.dialect == engine::Dialect::kNative;
  return {.int16 = has_int16(options),
          .float32 = native && (part.cpu->has_fpu() || options.soft_float),
          .float32_note = !native ? " with --compat executorch" : ", unless --soft-float is given",
          .int4 = has_int4(options, part)};
}

/// Rejects options that contradict float32, and cores without an FPU.
Status check_float(const FloatModel& model, const CompileOptions& options,
                   const engine::Core& core) {
  if (!options.keep_float) return ok();
  const auto other = std::ranges::find_if(
      options.io.named, [](const auto& named) { return named.second != quant::Io::kFloat; });
  const bool any = other != options.io.named.end();
  if (options.io.all != quant::Io::kFloat || any) {
    return bad_input("--float with --io {}: inputs and outputs of a float model are float32",
                     quant::io_name(any ? other->second : options.io.all));
  }
  if (!options.quant.empty() || options.int4 != Int4Weights::kNone) {
    return bad_input(
        "--float keeps the whole model in float32: it cannot be used with --quant or --weights");
  }
  if (options.goal || *options.wide_activations || *options.tune || *options.equalize) {
    return bad_input(
        "--float keeps the model in float32: it cannot be used with --accuracy, --activations, "
        "--tune or --equalize");
  }
  if (options.dialect != engine::Dialect::kNative) {
    return bad_input("--float with --compat executorch: export the float model with ExecuTorch");
  }
  if (quant::is_prequantized(model.graph)) {
    return bad_input("{}: PyTorch quantized this model: --float requires the float model",
                     model.name);
  }
  if (core.has_fpu() || options.soft_float) return ok();
  return unsupported(
      "{}: {} has no FPU: each float32 operation is a call of 20 to 200 instructions; --soft-float "
      "compiles it anyway",
      model.name, core.name);
}

/// Checks the names of --io against the float inputs and outputs.
Status check_io_names(const ir::Graph& graph, const quant::IoTypes& io) {
  std::vector<std::string> names;
  for (const auto* values : {&graph.inputs(), &graph.outputs()}) {
    for (const ir::ValueId id : *values) {
      if (graph.type(id).dtype == ir::DType::kF32) names.push_back(graph.value(id).name);
    }
  }
  const auto is_sensor = [&](std::string_view name, quant::Io io_type) {
    return std::ranges::any_of(graph.inputs(), [&](ir::ValueId id) {
      const ir::DType dtype = graph.type(id).dtype;
      return graph.value(id).name == name &&
             ((dtype == ir::DType::kU8 && io_type == quant::Io::kUint8) ||
              (dtype == ir::DType::kI16 && io_type == quant::Io::kInt16));
    });
  };
  for (const auto& [name, type] : io.named) {
    if (std::ranges::find(names, name) != names.end() || is_sensor(name, type)) continue;
    return bad_input("--io {}={}: the model has no float input or output of this name; it has {}",
                     name, quant::io_name(type), fmt::join(names, ", "));
  }
  return ok();
}

}  // namespace

Status check_options(const FloatModel& model, const CompileOptions& options,
                     const engine::Part& part) {
  THIMBLE_CHECK(check_io_names(model.graph, options.io));
  THIMBLE_CHECK(check_widths(options, *part.cpu));
  THIMBLE_CHECK(check_float(model, options, *part.cpu));
  THIMBLE_CHECK(check_int4(options, part));
  THIMBLE_CHECK(check_choices(model.imported, options.quant, part.name, kernels_of(options, part)));
  THIMBLE_TRY(const CpuOnlyNodes off, engine_off(model.imported, options, part));
  return ok();
}

}  // namespace thimble::driver
