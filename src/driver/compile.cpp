#include "driver/compile.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <span>

#include "base/cancel.h"
#include "base/size_text.h"
#include "driver/alternatives.h"
#include "driver/build_program.h"
#include "driver/data.h"
#include "driver/debug_calls.h"
#include "driver/does_not_fit.h"
#include "driver/engines.h"
#include "driver/input_resolution.h"
#include "driver/int4_choice.h"
#include "driver/integer_ranges.h"
#include "driver/npu_cycles.h"
#include "driver/op_provenance.h"
#include "driver/op_rows.h"
#include "driver/output_quality.h"
#include "driver/part_memories.h"
#include "driver/recipe.h"
#include "driver/run_time.h"
#include "driver/runtime_work.h"
#include "driver/stages.h"
#include "driver/tried_options.h"
#include "emit/decompile.h"
#include "emit/emit.h"
#include "engine/part.h"
#include "formats/kind/file_kind.h"
#include "formats/pt2/reader.h"
#include "formats/pte/print.h"
#include "formats/pte/write.h"
#include "import/import.h"
#include "ir/dce.h"
#include "ir/op_cost.h"
#include "ir/print.h"
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

/// Returns the compiled types of `values`, with the names that `original` has for `named`.
std::vector<IoReport> report_io(const ir::Graph& compiled, const std::vector<ir::ValueId>& values,
                                const std::vector<ir::ValueId>& named, const ir::Graph& original) {
  std::vector<IoReport> reports;
  for (size_t i = 0; i < values.size(); ++i) {
    reports.push_back({original.value(named[i]).name, compiled.type(values[i])});
  }
  return reports;
}

/// Returns true for the frame of a camera, whose last dimension has the bytes of a pixel.
bool is_frame(const ir::Graph& graph, ir::ValueId input) {
  return std::ranges::any_of(graph.ops(), [&](const ir::Op& op) {
    return op.kind == ir::OpKind::camera_image && op.inputs[0] == input;
  });
}

Status declare_channels_last(ir::Graph* graph) {
  for (const auto& values : {graph->inputs(), graph->outputs()}) {
    for (const ir::ValueId id : values) {
      if (graph->type(id).shape.size() != 4 || is_frame(*graph, id)) continue;
      graph->value(id).type.dim_order = ir::channels_last_order();
    }
  }
  const auto is_image = [&](ir::ValueId id) {
    return graph->type(id).shape.size() == 4 && !is_frame(*graph, id);
  };
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

Result<import_pt2::ImportedModel> read_model(const fs::path& model,
                                             const std::map<std::string, int64_t>& shapes,
                                             std::vector<ir::RefusedNode>* refused = nullptr) {
  const Result<formats::pt2::ExportedProgram> read = formats::pt2::read(model);
  if (!read) return formats::explain_file(model, formats::FileUse::kExport, read.error());
  const formats::pt2::ExportedProgram& program = *read;
  import_pt2::ImportOptions options;
  options.shapes = shapes;
  options.refused = refused;
  return import_pt2::import_program(program, options, model.filename().string());
}

/// Returns false for ExecuTorch's kernels, which do not support 16-bit activations.
bool has_int16(const CompileOptions& options) {
  return options.dialect == engine::Dialect::kNative;
}

/// Returns true if the part has kernels for weights of 4 bits.
bool has_int4(const CompileOptions& options, const engine::Part& part) {
  return options.dialect == engine::Dialect::kNative && part.engines.empty();
}

/// Rejects weights of 4 bits for targets without kernels for them.
Status check_int4(const CompileOptions& options, const engine::Part& part) {
  if ((!options.int4_weights && !options.int4_flash) || has_int4(options, part)) return ok();
  const std::string_view option = options.int4_flash ? "--weights auto" : "--weights int4";
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
  if (!options.quant.empty() || options.int4_weights || options.int4_flash) {
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

/// Applies the quantization preferences of the part's engines.
void apply_preferences(const engine::Part& part, quant::QuantSpec* spec) {
  if (!part.recipe.preferences.value_or(true)) return;
  for (const engine::PartNpu& use : part.engines) {
    const engine::QuantPreferences* preferences = use.engine->preferences;
    if (preferences == nullptr) continue;
    spec->own_curves = false;  // its sigmoid and tanh have fixed scales
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

std::vector<std::string> pass_names() {
  return passes::pass_names();
}

Result<ir::Graph> load_float_graph(const fs::path& model,
                                   const std::map<std::string, int64_t>& shapes,
                                   const std::vector<passes::InputFormat>& preprocess) {
  THIMBLE_TRY(const import_pt2::ImportedModel imported, read_model(model, shapes));
  if (preprocess.empty()) return passes::run_float_passes(imported.graph);
  THIMBLE_TRY(const ir::Graph whole, passes::add_prologue(imported.graph, preprocess));
  return passes::run_float_passes(whole);
}

namespace {

/// Runs passes::run_float_passes pass by pass: records removed operators and saves changed graphs.
Result<ir::Graph> run_passes(const ir::Graph& imported, std::span<const std::string> skipped,
                             StageFiles* files, OpProvenance* provenance) {
  for (const std::string& name : skipped) {
    if (passes::find_pass(name) == nullptr) {
      return bad_input("--skip-passes {}: no such pass: `thimble opt --list` prints them", name);
    }
  }
  ir::Graph current = ir::remove_unused(imported);
  for (const passes::Pass& pass : passes::float_passes()) {
    if (std::ranges::find(skipped, pass.name) != skipped.end()) continue;
    THIMBLE_TRY(ir::Graph next, passes::run_pass(pass, current));
    provenance->step(current, next, pass.removal_reason);
    if (files->wanted() && ir::print(next) != ir::print(current)) {
      THIMBLE_CHECK(files->save(fmt::format("{}.ir", pass.name), next));
    }
    current = std::move(next);
  }
  return current;
}

/// Saves the file of a program that runs on the CPU only, and the graph decompiled from it.
Status save_partition(StageFiles* files, std::string_view engine, const emit::Emitted& emitted) {
  if (!files->wanted()) return ok();
  THIMBLE_TRY(const ir::Graph decompiled, emit::decompile(emitted.program));
  THIMBLE_CHECK(files->save(fmt::format("partition-{}.ir", engine), decompiled));
  return files->save(fmt::format("partition-{}.pte", engine), emitted.bytes);
}

}  // namespace

namespace {

/// --input-mean and --input-std as the format of the input that they apply to.
Result<std::vector<passes::InputFormat>> input_formats(const ir::Graph& graph,
                                                       const CompileOptions& options) {
  std::vector<passes::InputFormat> formats = options.preprocess;
  if (options.input_mean.empty() && options.input_std.empty()) return formats;
  std::vector<passes::InputFormat> found;
  for (const ir::ValueId id : graph.inputs()) {
    const ir::Value& value = graph.value(id);
    const quant::Io io = options.io.of(value.name);
    const bool sensor = io == quant::Io::kUint8 || io == quant::Io::kInt16;
    if (!sensor || value.type.dtype != ir::DType::kF32) continue;
    passes::InputFormat format;
    format.input = value.name;
    format.format = quant::io_name(io);
    format.mean = options.input_mean;
    format.std = options.input_std;
    format.text = fmt::format("{}: {}", value.name, format.format);
    if (!format.mean.empty())
      format.text += fmt::format(" -> mean {}", fmt::join(format.mean, ","));
    if (!format.std.empty()) format.text += fmt::format(" -> std {}", fmt::join(format.std, ","));
    found.push_back(std::move(format));
  }
  if (found.size() != 1) {
    return bad_input(
        "--input-mean, --input-std: {} inputs are uint8 or int16, one expected: --io NAME=uint8, "
        "or "
        "--preprocess for each input",
        found.size());
  }
  formats.push_back(std::move(found[0]));
  return formats;
}

}  // namespace

Result<FloatModel> import_model(const fs::path& path, const CompileOptions& options,
                                StageFiles* files, std::vector<ir::RefusedNode>* refused) {
  report_progress(options.progress, "importing");
  THIMBLE_CHECK(check_cancelled());
  THIMBLE_TRY(import_pt2::ImportedModel read, read_model(path, options.shapes, refused));
  FloatModel model{path.filename().string(),
                   std::move(read.graph),
                   {},
                   OpProvenance(std::move(read.nodes)),
                   std::move(read.notes),
                   read.has_dynamic_quantization};
  THIMBLE_TRY(const auto formats, input_formats(model.imported, options));
  if (!formats.empty()) {
    THIMBLE_TRY(model.imported, passes::add_prologue(model.imported, formats));
  }
  model.provenance.begin(model.imported);
  THIMBLE_CHECK(files->save("imported.ir", model.imported));
  THIMBLE_TRY(model.graph,
              run_passes(model.imported, options.skip_passes, files, &model.provenance));
  if (options.io_channels_last) THIMBLE_CHECK(declare_channels_last(&model.graph));
  THIMBLE_CHECK(files->save("float.ir", model.graph));
  model.parameters = count_parameters(model.graph);
  return model;
}

void release_float_constants(FloatModel* model) {
  const auto none = std::make_shared<const ir::Tensor>();
  for (size_t i = 0; i < model->graph.value_count(); ++i) {
    ir::TensorPtr& constant = model->graph.value(static_cast<ir::ValueId>(i)).constant;
    if (constant != nullptr) constant = none;
  }
}

void release_imported_constants(FloatModel* model) {
  for (size_t i = 0; i < model->imported.value_count(); ++i) {
    model->imported.value(static_cast<ir::ValueId>(i)).constant.reset();
  }
}

namespace {

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

Result<Calibration> read_calibration(const FloatModel& model, const CompileOptions& options) {
  const bool prequantized = quant::is_prequantized(model.graph) && !model.has_dynamic_quantization;
  Calibration data;
  if (options.keep_float) return data;
  if (options.samples != nullptr) {
    THIMBLE_TRY(data.samples, join_samples(*options.samples, model.graph));
    THIMBLE_CHECK(check_samples(data.samples, model.graph, options.samples->label));
    data.warnings = pixel_questions(data.samples, model.graph);
    return data;
  }
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
    std::ranges::move(wide_integer_warnings(model.graph, data.samples.data),
                      std::back_inserter(data.warnings));
  } else if (model.has_dynamic_quantization) {
    return bad_input(
        "{}: dynamic quantization: the device needs constant scales, which are chosen from "
        "calibration data: --calibrate DATA.npz",
        model.name);
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
  const bool stock = options.dialect != engine::Dialect::kNative;
  spec.linear_weights = quant::LinearWeights::kPerTensorIfClose;
  spec.per_tensor_tolerance_db = stock ? kStockToleranceDb : kNativeToleranceDb;
  spec.wide_softmax = !stock && !options.narrow_softmax;
  spec.own_means = !stock;  // ExecuTorch has no mean kernel
  spec.own_curves = !stock;
  // An NPU has its own form of weights. The weights for the DSP extension have pairs of channels in
  // 16-bit words, from which no kernel reads rows.
  spec.tied_tables = !stock && part.engines.empty() && part.cpu->isa != abi::Isa::kDsp;
  apply_preferences(part, &spec);
  return {spec,
          *options.observer,
          *options.equalize,
          *options.tune,
          *options.wide_activations,
          options.effort,
          options.choose_observer};
}

namespace {

/// Returns the number of samples for the SQNR of the report: all samples of a usual calibration
/// file, and fewer for a large network, so that the measurement takes at most seconds.
int64_t quality_samples(const ir::Graph& graph) {
  constexpr int64_t kWorkMax = 1'000'000'000, kFewest = 3;
  int64_t work = 1;  // of one sample: MACs, or elements of results
  for (const ir::Op& op : graph.ops()) {
    work += std::max(ir::macs_of(graph, op), graph.type(op.output).elements());
  }
  return std::max(kWorkMax / work, kFewest);
}

}  // namespace

namespace {

/// Runs the integer passes. The qualities of values that a pass removed are dropped.
Status run_integer_passes(std::span<const std::string> skipped, quant::QuantizedModel* quantized) {
  const ir::Graph before = quantized->graph;
  for (const passes::Pass& pass : passes::integer_passes()) {
    if (std::ranges::find(skipped, pass.name) != skipped.end()) continue;
    THIMBLE_TRY(quantized->graph, passes::run_pass(pass, quantized->graph));
  }
  quantized->report.macs_without_effect = ir::total_macs(before) - ir::total_macs(quantized->graph);
  std::map<std::string, ir::ValueId> ids;
  for (const ir::Op& op : quantized->graph.ops()) {
    ids[quantized->graph.value(op.output).name] = op.output;
  }
  quant::QuantReport& report = quantized->report;
  std::vector<quant::OpQuality> kept;
  std::optional<size_t> weakest, largest_loss;
  for (size_t i = 0; i < report.ops.size(); ++i) {
    const auto found = ids.find(before.value(report.ops[i].value).name);
    if (found == ids.end()) continue;
    if (report.weakest == i) weakest = kept.size();
    if (report.largest_loss == i) largest_loss = kept.size();
    kept.push_back(report.ops[i]);
    kept.back().value = found->second;
  }
  report.ops = std::move(kept);
  report.weakest = weakest;
  report.largest_loss = largest_loss;
  return ok();
}

}  // namespace

namespace {

Result<quant::QuantizeOptions> quantize_options_of(const FloatModel& model, const Calibration& data,
                                                   const CompileOptions& options,
                                                   const Arithmetic& arithmetic) {
  quant::QuantizeOptions quantize_options;
  quantize_options.io = options.io;
  quantize_options.observer = arithmetic.observer;
  quantize_options.wide = wide_choice(options.quant, arithmetic.wide_activations);
  quantize_options.keep_float = float_choice(options.quant);
  quantize_options.int4 = int4_choice(options.quant, options.int4_weights);
  quantize_options.goal = options.goal;
  if (options.goal && options.goal->metric == quant::Metric::kTop1) {
    if (!data.samples.labels) {
      return bad_input("{}: --accuracy top1 needs an array `labels`, one per sample",
                       options.samples != nullptr ? options.samples->label
                                                  : options.calibration.filename().string());
    }
    quantize_options.goal->labels = *data.samples.labels;
  }
  quantize_options.equalize = arithmetic.equalize;
  quantize_options.tune = arithmetic.tune;
  // Random samples say nothing about the accuracy.
  quantize_options.effort = data.random ? 0 : arithmetic.effort;
  quantize_options.choose_observer = arithmetic.choose_observer;
  quantize_options.progress = options.progress;
  const bool measure = !data.random && options.measure_quality;
  quantize_options.quality_samples = measure ? quality_samples(model.graph) : 0;
  return quantize_options;
}

}  // namespace

namespace {

/// Adds the selection to the operators that the options select. An operator for which --quant
/// requests a precision is no candidate.
void select_int4(const std::vector<QuantChoice>& choices, const Int4Selection& selection,
                 quant::QuantizeOptions* options) {
  if (selection.rank) {
    options->int4_candidates = [choices](const ir::Graph& graph, const ir::Op& op) {
      return !has_choice(choices, graph, op);
    };
  }
  if (selection.results.empty()) return;
  const auto asked = options->int4;
  options->int4 = [asked, results = selection.results](const ir::Graph& graph, const ir::Op& op) {
    return (asked && asked(graph, op)) || results.contains(graph.value(op.output).name);
  };
}

}  // namespace

Status observe_model(const FloatModel& model, const Calibration& data,
                     const CompileOptions& options, const Arithmetic& arithmetic,
                     quant::JointCalibration* joint) {
  THIMBLE_TRY(quant::QuantizeOptions quantize_options,
              quantize_options_of(model, data, options, arithmetic));
  quantize_options.effort = 0;  // methods share their weights
  return quant::observe_method(model.graph, data.samples.data, arithmetic.spec, quantize_options,
                               joint);
}

Result<quant::QuantizedModel> quantize_model(const FloatModel& model, const Calibration& data,
                                             const CompileOptions& options,
                                             const Arithmetic& arithmetic,
                                             quant::JointCalibration* joint,
                                             const Int4Selection* int4,
                                             const std::function<void(int64_t)>& keep_samples) {
  if (options.keep_float) return quant::QuantizedModel{model.graph, {}};
  if (options.int4_flash && int4 == nullptr) {
    return bad_input("--weights auto: only `compile` of a model with one method supports it");
  }
  THIMBLE_TRY(quant::QuantizeOptions quantize_options,
              quantize_options_of(model, data, options, arithmetic));
  quantize_options.joint = joint;
  quantize_options.keep_samples = keep_samples;
  if (int4 != nullptr) select_int4(options.quant, *int4, &quantize_options);
  THIMBLE_TRY(quant::QuantizedModel quantized,
              quant::quantize(model.graph, data.samples.data, arithmetic.spec, quantize_options));
  THIMBLE_CHECK(run_integer_passes(options.skip_passes, &quantized));
  return quantized;
}

Result<Program> write_program(const FloatModel& model, const quant::QuantizedModel& quantized,
                              std::shared_ptr<const engine::Part> part,
                              const CompileOptions& options, std::optional<int64_t> sram_bytes,
                              StageFiles* files) {
  Program program;
  Compiled& compiled = program.compiled;
  CompileReport& report = compiled.report;
  compiled.part = std::move(part);
  report.model = model.name;
  report.target = compiled.part->name;
  report.optimize = options.optimize;
  report.keeps_float = options.keep_float;
  THIMBLE_CHECK(files->save("integer.ir", quantized.graph));
  compiled.integer_graph = quantized.graph;
  const ir::Graph& graph = model.graph;
  report.inputs = report_io(quantized.graph, quantized.graph.inputs(), graph.inputs(), graph);
  report.outputs = report_io(quantized.graph, quantized.graph.outputs(), graph.outputs(), graph);
  THIMBLE_TRY(const CpuOnlyNodes off, engine_off(model.imported, options, *compiled.part));
  report_progress(options.progress, "lowering");
  THIMBLE_CHECK(check_cancelled());
  THIMBLE_CHECK(build_program(options, sram_bytes, off, &program, files));
  if (files->wanted()) {
    const std::string text = formats::pte::print(program.emitted.program, {false});
    THIMBLE_CHECK(files->save("program.txt", as_byte_view(text)));
  }
  if (compiled.subgraphs.empty()) {
    THIMBLE_CHECK(save_partition(files, compiled.part->cpu->engine, program.emitted));
  }
  return program;
}

namespace {

/// Adds the entry of emit/debug_handles.h to the file.
Status add_debug_entry(const std::vector<emit::DebugCall>& calls, emit::Emitted* emitted,
                       CompileReport* report) {
  emitted->program.named_data.push_back(emit::debug_entry(calls));
  THIMBLE_TRY(emitted->bytes, formats::pte::write(emitted->program));
  const auto bytes = static_cast<int64_t>(emitted->bytes.size());
  if (report->linked) report->linked->program_bytes += bytes - report->pte_bytes;
  report->pte_bytes = bytes;
  return ok();
}

}  // namespace

Result<Compiled> report_program(Program program, const FloatModel& model,
                                const quant::QuantizedModel& quantized,
                                std::shared_ptr<const engine::Part> shared_part,
                                const CompileOptions& options) {
  const engine::Part& part = *shared_part;
  Compiled compiled = std::move(program.compiled);
  compiled.part = std::move(shared_part);
  CompileReport& report = compiled.report;
  report.target = part.name;
  report.parameters = model.parameters;
  report.quant = quantized.report;
  warn_of_low_sqnr(&report);
  report.calibrate_seconds = quantized.report.calibrate_seconds + quantized.report.quality_seconds;
  OpProvenance provenance = model.provenance;
  provenance.quantized(model.graph, quantized.graph);
  THIMBLE_CHECK(estimate_npu_cycles(program.emitted.program, report.model, part,
                                    &compiled.lowered.delegates));
  report.npu_cycles = sum_cycles(compiled.lowered.delegates);
  const std::vector<RowOp> rows = row_ops(compiled.lowered, compiled.subgraphs);
  report_ops(compiled.lowered, program.memory_plan, *part.cpu, rows, &report);
  report_engines(quantized.graph, program.reasons, program.added, rows, &report);
  THIMBLE_TRY(const ir::Graph whole,
              partition::inline_subgraphs(compiled.lowered.graph, compiled.subgraphs));
  provenance.lowered(quantized.graph, whole, rows, &report);
  if (options.names) {
    THIMBLE_CHECK(
        add_debug_entry(debug_calls(compiled.lowered, rows, report), &program.emitted, &report));
  }
  list_memories(part, compiled.lowered, &report);
  THIMBLE_TRY(const CpuOnlyNodes off, engine_off(model.imported, options, part));
  report_engine_off(off, !part.engines.empty(), &report);
  report_delegates(compiled.lowered.delegates, &report);
  const std::map<std::string, int64_t> sizes = memory_sizes(options, part);
  THIMBLE_CHECK(set_memory_sizes(sizes, &report));
  THIMBLE_CHECK(place_in_memories(compiled, program.emitted.program, options, sizes, &report));
  if (options.pte_output || !options.c_output) {
    report.runtime_work = runtime_work(program.emitted.program);
  }
  report_time(compiled.lowered, part, rows,
              operand_memories(part, report.placement, &program.emitted.program), &report);
  compiled.pte = std::move(program.emitted.bytes);
  return compiled;
}

Result<Compiled> compile(const fs::path& path, const CompileOptions& asked) {
  const Clock clock;
  StageFiles files(asked.save_stages);
  THIMBLE_TRY(engine::Part found, engine::find_part(asked.target));
  if (!asked.kernel_code.empty()) {
    THIMBLE_CHECK(engine::check_kernel_code(found, asked.kernel_code));
    found.recipe.kernel_code = asked.kernel_code;
  }
  const CompileOptions options = with_recipe(asked, found.recipe);
  auto part = std::make_shared<const engine::Part>(std::move(found));
  THIMBLE_TRY(FloatModel model, import_model(path, options, &files));
  release_imported_constants(&model);
  THIMBLE_CHECK(check_options(model, options, *part));
  THIMBLE_TRY(Calibration data, read_calibration(model, options));
  const auto keep_samples = [&](int64_t samples) {
    keep_first_calls(samples, model.graph, &data.samples);
  };
  THIMBLE_TRY(quant::QuantizedModel quantized,
              options.int4_flash
                  ? quantize_within_flash(model, data, options, part)
                  : quantize_model(model, data, options, arithmetic_of(options, *part), nullptr,
                                   nullptr, keep_samples));
  const std::optional<double> sqnr_db = lowest_sqnr_db(quantized.report);
  if (sqnr_db && *sqnr_db < kWarnSqnrDb && !options.goal && !quant::is_prequantized(model.graph)) {
    // The quantization has released samples that it does not need any more.
    THIMBLE_TRY(data, read_calibration(model, options));
    THIMBLE_TRY(quantized.report.tried_options,
                try_options({model, data, options, *part}, quantized));
  }
  std::vector<std::string> warnings = data.warnings;
  if (!data.random) {
    std::ranges::move(input_resolution_warnings(quantized.graph, data.samples),
                      std::back_inserter(warnings));
  }
  data.samples.data.inputs.clear();
  release_float_constants(&model);
  THIMBLE_TRY(const CpuOnlyNodes off, engine_off(model.imported, options, *part));
  const std::optional<int64_t> limit = ram_limit(*part, memory_sizes(options, *part));
  Result<Program> program = write_program(model, quantized, part, options, limit, &files);
  // The message of an engine that has no schedule within the limit, or of a failed placement.
  std::optional<Error> refusal;
  if (!program && program.error().kind == ErrorKind::kUnsupported && limit) {
    refusal = program.error();
    StageFiles none({});
    Result<Program> whole = write_program(model, quantized, part, options, std::nullopt, &none);
    if (whole) program = std::move(whole);
  }
  if (!program) return program.error();
  const int64_t effort = program->effort;
  THIMBLE_TRY(Compiled compiled,
              report_program(std::move(*program), model, quantized, part, options));
  CompileReport& report = compiled.report;
  report.warnings.insert(report.warnings.begin(), warnings.begin(), warnings.end());
  if (!refusal && !report.shortage.empty()) {
    refusal = Error{ErrorKind::kUnsupported, report.shortage, report.shortage_facts};
  }
  const MemoryUse* const over = first_overflow(report);
  if (over != nullptr && part->code_ram && over->name == part->code_ram->name) {
    return memory_refusal(
        fmt::format("{}: the code of kernels does not fit: {} needs {} B, {} B allowed; with "
                    "--kernel-code flash it runs where the program is stored",
                    report.model, over->name, with_commas(over->bytes_used),
                    with_commas(over->bytes_size)),
        over->name, over->bytes_used, over->bytes_size);
  }
  if (over != nullptr || refusal) {
    const Alternatives alternatives =
        find_alternatives({asked, options, off, quantized.graph, compiled, effort}, over);
    THIMBLE_CHECK(check_cancelled());
    const Error error = refusal ? does_not_fit(report, *refusal, alternatives)
                                : does_not_fit(report, *over, alternatives);
    report.refusal = error.message;
    report.compile_seconds = clock.seconds();
    if (options.on_refusal) THIMBLE_CHECK(options.on_refusal(compiled));
    return error;
  }
  report.notes.insert(report.notes.end(), model.notes.begin(), model.notes.end());
  if (const std::string note = inputs_note(report); !note.empty()) report.notes.push_back(note);
  if (const int64_t removed = quantized.report.macs_without_effect; removed > 0) {
    report.notes.push_back(
        fmt::format("{} of {} MACs are not computed: their channels have no effect on the outputs",
                    with_commas(removed), with_commas(removed + ir::total_macs(quantized.graph))));
  }
  if (data.random) {
    report.notes.emplace_back(
        "calibrated with random data: sizes and time are valid, results of the model are not");
  }
  report.compile_seconds = clock.seconds();
  return compiled;
}

}  // namespace thimble::driver
