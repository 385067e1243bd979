#include "driver/compile.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <set>

#include "abi/pte_ops.h"
#include "abi/state.h"
#include "driver/data.h"
#include "driver/fates.h"
#include "emit/emit.h"
#include "emit/lift.h"
#include "emit/schedule.h"
#include "formats/pt2/reader.h"
#include "formats/pte/print.h"
#include "import/import.h"
#include "ir/dce.h"
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

/// Writes each stage's text, numbered, if a folder was given.
class Stages {
 public:
  explicit Stages(fs::path folder) : folder_(std::move(folder)) {}

  Status save(std::string_view name, const std::string& text) {
    if (folder_.empty()) return ok();
    std::error_code error;
    fs::create_directories(folder_, error);
    const fs::path path = folder_ / fmt::format("{:02}-{}", ++count_, name);
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file) return bad_input("{}: cannot be written", path.string());
    return ok();
  }
  [[nodiscard]] bool wanted() const { return !folder_.empty(); }

 private:
  fs::path folder_;
  int count_ = 0;
};

/// Types as compiled, names as the user gave them.
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

int64_t macs_of(const ir::Graph& graph, const ir::Op& op) {
  using ir::OpKind;
  const auto is = [&op](std::initializer_list<OpKind> kinds) {
    return std::ranges::find(kinds, op.kind) != kinds.end();
  };
  if (is({OpKind::matmul, OpKind::qmatmul, OpKind::qmatmul16})) {
    return graph.type(op.output).elements() * graph.type(op.inputs[0]).shape.back();
  }
  if (is({OpKind::conv_transpose2d, OpKind::qconv_transpose2d, OpKind::qconv_transpose2d16})) {
    const ir::Type& weights = graph.type(op.inputs[1]);
    return graph.type(op.inputs[0]).elements() * (weights.elements() / weights.shape[0]);
  }
  if (is({OpKind::qgru, OpKind::qlstm, OpKind::qrnn})) {
    const size_t w_ih = op.kind == OpKind::qlstm ? 3 : 2;
    const ir::Type& y = graph.type(op.output);
    return y.elements() / y.shape.back() *
           (graph.type(op.inputs[w_ih]).elements() + graph.type(op.inputs[w_ih + 1]).elements());
  }
  if (!is({OpKind::conv2d, OpKind::qconv2d, OpKind::qconv2d16, OpKind::linear, OpKind::qlinear,
           OpKind::qlinear16})) {
    return 0;
  }
  const ir::Type& weights = graph.type(op.inputs[1]);
  return graph.type(op.output).elements() * (weights.elements() / weights.shape[0]);
}

/// Operators on float values, but for the edges of the graph.
int64_t count_float_ops(const ir::Graph& graph) {
  return std::count_if(graph.ops().begin(), graph.ops().end(), [&](const ir::Op& op) {
    if (op.kind == ir::OpKind::quantize || op.kind == ir::OpKind::dequantize) return false;
    return graph.type(op.output).dtype == ir::DType::kF32;
  });
}

int64_t live_bytes(const emit::Schedule& schedule, size_t step) {
  int64_t live = 0;
  for (const emit::Storage& storage : schedule.storages) {
    const plan::Buffer& b = storage.buffer;
    if (b.first <= static_cast<int>(step) && static_cast<int>(step) <= b.last) live += b.bytes;
  }
  return live;
}

Peak find_peak(const target::Lowered& lowered, const emit::Schedule& schedule) {
  Peak peak;
  for (size_t step = 0; step < lowered.calls.size(); ++step) {
    const int64_t live = live_bytes(schedule, step);
    if (live <= peak.bytes) continue;
    const target::KernelCall& call = lowered.calls[step];
    peak.bytes = live;
    peak.op = abi::info(call.op).name;
    peak.source = lowered.graph.ops()[static_cast<size_t>(call.ir_op)].source;
  }
  return peak;
}

int64_t constant_bytes(const target::KernelCall& call) {
  int64_t bytes = 0;
  for (const target::Argument& argument : call.arguments) {
    const auto* constant = std::get_if<target::Constant>(&argument);
    if (constant != nullptr) bytes += static_cast<int64_t>(constant->bytes->size());
  }
  return bytes;
}

void report_ops(const target::Lowered& lowered, const emit::Schedule& schedule,
                const target::Target& target, CompileReport* report) {
  for (size_t step = 0; step < lowered.calls.size(); ++step) {
    const target::KernelCall& call = lowered.calls[step];
    const ir::Op& op = lowered.graph.ops()[static_cast<size_t>(call.ir_op)];
    const ir::Value& out = lowered.graph.value(call.out);
    const target::Cost cost = target.cost(lowered, call, target);
    OpReport row;
    row.name = out.name;
    row.op = abi::info(call.op).name;
    row.types = target::call_types(lowered, call);
    row.engine = std::string(target.engine);
    row.source = op.source;
    row.macs = macs_of(lowered.graph, op);
    row.steps = cost.steps;
    row.elements_out = out.type.elements();
    row.bytes_out = static_cast<int64_t>(out.type.bytes());
    row.constant_bytes = constant_bytes(call);
    row.live_bytes = live_bytes(schedule, step);
    row.instructions = cost.instructions;
    report->ops.push_back(std::move(row));
  }
}

void report_buffers(const target::Lowered& lowered, const emit::Schedule& schedule,
                    CompileReport* report) {
  for (size_t i = 0; i < schedule.storages.size(); ++i) {
    const emit::Storage& storage = schedule.storages[i];
    if (storage.buffer.bytes == 0) continue;
    const bool scratch = storage.value == ir::kNoValue;
    report->buffers.push_back({scratch ? "" : lowered.graph.value(storage.value).name,
                               schedule.placement.offsets[i], storage.buffer.bytes,
                               storage.buffer.first, storage.buffer.last});
  }
}

Status check_memories(const CompileOptions& options, CompileReport* report) {
  report->memories = {{"sram", report->arena_bytes + report->state_bytes, 0},
                      {"flash", report->pte_bytes, 0}};
  for (const auto& [name, bytes] : options.memory) {
    const auto memory = std::ranges::find(report->memories, name, &MemoryUse::name);
    if (memory == report->memories.end()) {
      return bad_input("--memory {}: target {} has the memories sram and flash", name,
                       report->target);
    }
    memory->bytes_size = bytes;
  }
  for (const MemoryUse& memory : report->memories) {
    if (memory.bytes_size == 0 || memory.bytes_used <= memory.bytes_size) continue;
    std::string message =
        fmt::format("{}: does not fit: {} needs {} B, {} B allowed", report->model, memory.name,
                    memory.bytes_used, memory.bytes_size);
    if (memory.name == "sram") {
      const Peak& peak = report->peak;
      message += fmt::format("\n  peak at        {}   {}   {}   {} B live", peak.op,
                             peak.source.where(), peak.source.text, peak.bytes);
    }
    return unsupported("{}", message);
  }
  return ok();
}

int64_t state_bytes(const formats::pte::ExecutionPlan& plan) {
  const bool all_planned = std::ranges::all_of(plan.inputs, [&](int32_t index) {
    const auto* tensor =
        std::get_if<formats::pte::Tensor>(&plan.values[static_cast<size_t>(index)]);
    return tensor != nullptr && tensor->allocation.has_value();
  });
  return static_cast<int64_t>(
      abi::state_bytes(plan.operators.size(), plan.inputs.size(), all_planned,
                       plan.delegates.size()));
}

Result<import_pt2::ImportedModel> import_model(const fs::path& model,
                                               const std::map<std::string, int64_t>& shapes) {
  THIMBLE_TRY(const formats::pt2::ExportedProgram program, formats::pt2::read(model));
  import_pt2::ImportOptions options;
  options.shapes = shapes;
  return import_pt2::import_program(program, options, model.filename().string());
}

/// ExecuTorch's kernels have no 16-bit activations.
bool has_int16(const CompileOptions& options) {
  return options.dialect == target::Dialect::kNative;
}
Status check_widths(const CompileOptions& options, const target::Target& target) {
  if (has_int16(options) || (!options.wide_activations && !options.goal)) return ok();
  return unsupported("{} with {}: ExecuTorch has no kernels for 16-bit activations on {}",
                     options.wide_activations ? "--activations int16" : "--accuracy",
                     "--compat executorch", target.name);
}

Result<quant::QuantizedModel> quantize_model(const fs::path& model, const ir::Graph& graph,
                                             const CompileOptions& options) {
  Samples samples;
  if (!options.calibration.empty()) {
    THIMBLE_TRY(samples, read_samples(options.calibration, graph));
  } else if (!quant::is_prequantized(graph)) {
    return bad_input("{}: a float model needs calibration data: --calibrate DATA.npz",
                     model.filename().string());
  }
  quant::QuantSpec spec;
  // ExecuTorch's linear has one multiplier for all channels; ours takes either, and one is smaller.
  constexpr double kStockToleranceDb = 0.3, kNativeToleranceDb = 0.2;
  const bool stock = options.dialect == target::Dialect::kStock;
  spec.linear_weights = quant::LinearWeights::kPerTensorIfClose;
  spec.per_tensor_tolerance_db = stock ? kStockToleranceDb : kNativeToleranceDb;
  spec.wide_softmax = !stock;
  spec.own_means = !stock;  // ExecuTorch has no mean
  quant::QuantizeOptions quantize_options;
  quantize_options.io = options.io;
  quantize_options.observer = options.observer;
  quantize_options.wide = wide_choice(options.quant, options.wide_activations);
  quantize_options.goal = options.goal;
  if (options.goal && options.goal->metric == quant::Metric::kTop1) {
    if (!samples.labels) {
      return bad_input("{}: --accuracy top1 needs an array `labels`, one per sample",
                       options.calibration.filename().string());
    }
    quantize_options.goal->labels = *samples.labels;
  }
  quantize_options.equalize = options.equalize;
  quantize_options.tune = options.tune;
  // The report's SQNR is an estimate; a large network's must not cost more than its calibration.
  constexpr int64_t kLargeMacs = 100'000'000, kSamplesOfLarge = 3;
  int64_t macs = 0;
  for (const ir::Op& op : graph.ops()) macs += macs_of(graph, op);
  if (macs > kLargeMacs) quantize_options.quality_samples = kSamplesOfLarge;
  return quant::quantize(graph, samples.data, spec, quantize_options);
}

}  // namespace

Result<ir::Graph> load_float_graph(const fs::path& model,
                                   const std::map<std::string, int64_t>& shapes) {
  THIMBLE_TRY(const import_pt2::ImportedModel imported, import_model(model, shapes));
  return passes::run_float_passes(imported.graph);
}

namespace {

/// passes::run_float_passes, a pass at a time: what each removes is told, what it changes saved.
Result<ir::Graph> run_passes(const ir::Graph& imported, Stages* stages, Fates* fates) {
  ir::Graph current = ir::remove_unused(imported);
  for (const passes::Pass& pass : passes::float_passes()) {
    THIMBLE_TRY(ir::Graph next, passes::run_pass(pass, current));
    fates->step(current, next, pass.gone);
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

/// Operators that --engine-off names: a target without an engine runs them where it runs all.
Status note_engine_off(const ir::Graph& imported, const CompileOptions& options,
                       CompileReport* report) {
  for (const std::string& pattern : options.engine_off) {
    THIMBLE_TRY(const std::vector<size_t> chosen, select_ops(imported, pattern, "--engine-off"));
    for (const size_t index : chosen) {
      for (SourceOpReport& row : report->source_ops) {
        if (row.source.node != imported.ops()[index].source.node || row.calls.empty()) continue;
        row.reason =
            fmt::format("--engine-off {}: on the CPU, as all of {}", pattern, report->target);
      }
    }
  }
  return ok();
}

/// What the one partition, the CPU's, became: the file, and the graph that it says.
Status save_partition(Stages* stages, std::string_view engine, const emit::Emitted& emitted) {
  if (!stages->wanted()) return ok();
  THIMBLE_TRY(const ir::Graph lifted, emit::lift(emitted.program));
  THIMBLE_CHECK(stages->save(fmt::format("partition-{}.ir", engine), ir::print(lifted)));
  const auto* bytes = reinterpret_cast<const char*>(emitted.bytes.data());
  return stages->save(fmt::format("partition-{}.pte", engine),
                      std::string(bytes, emitted.bytes.size()));
}

}  // namespace

Result<Compiled> compile(const fs::path& model, const CompileOptions& options) {
  const Clock clock;
  Stages stages(options.save_stages);
  Compiled compiled;
  CompileReport& report = compiled.report;
  THIMBLE_TRY(const target::Target* target, target::find_target(options.target));
  report.model = model.filename().string();
  report.target = std::string(target->name);

  // The user's graph, in float.
  THIMBLE_TRY(import_pt2::ImportedModel read, import_model(model, options.shapes));
  const ir::Graph& imported = read.graph;
  Fates fates(std::move(read.nodes));
  fates.begin(imported);
  THIMBLE_CHECK(check_widths(options, *target));
  THIMBLE_CHECK(check_choices(imported, options.quant, target->name, has_int16(options)));
  // Everything runs on the CPU of a target without an engine; the patterns must fit all the same.
  for (const std::string& pattern : options.engine_off) {
    THIMBLE_CHECK(select_ops(imported, pattern, "--engine-off"));
  }
  if (stages.wanted()) THIMBLE_CHECK(stages.save("imported.ir", ir::print(imported)));
  THIMBLE_TRY(ir::Graph graph, run_passes(imported, &stages, &fates));
  if (options.io_channels_last) THIMBLE_CHECK(declare_channels_last(&graph));
  if (stages.wanted()) THIMBLE_CHECK(stages.save("float.ir", ir::print(graph)));
  report.parameters = count_parameters(graph);

  // The same in integers.
  THIMBLE_TRY(quant::QuantizedModel quantized, quantize_model(model, graph, options));
  report.quant = quantized.report;
  report.calibrate_seconds = quantized.report.calibrate_seconds + quantized.report.quality_seconds;
  if (stages.wanted()) THIMBLE_CHECK(stages.save("integer.ir", ir::print(quantized.graph)));
  fates.quantized(graph, quantized.graph);
  compiled.integer_graph = std::move(quantized.graph);
  report.inputs =
      report_io(compiled.integer_graph, compiled.integer_graph.inputs(), graph.inputs(), graph);
  report.outputs =
      report_io(compiled.integer_graph, compiled.integer_graph.outputs(), graph.outputs(), graph);

  // In the target's forms, with memory orders and kernel calls, then with addresses, then as a
  // file.
  target::Options target_options;
  target_options.dialect = options.dialect;
  THIMBLE_TRY(compiled.lowered, target->lower(compiled.integer_graph, *target, target_options));
  if (stages.wanted()) THIMBLE_CHECK(stages.save("lowered.ir", ir::print(compiled.lowered.graph)));
  const emit::Schedule schedule = emit::make_schedule(compiled.lowered);
  THIMBLE_TRY(emit::Emitted emitted,
              emit::emit(compiled.lowered, schedule, *target, {options.dialect, options.names}));
  if (stages.wanted())
    THIMBLE_CHECK(stages.save("program.txt", formats::pte::print(emitted.program, {false})));
  THIMBLE_CHECK(save_partition(&stages, target->engine, emitted));

  report.pte_bytes = static_cast<int64_t>(emitted.bytes.size());
  report.weights_bytes = emitted.constant_bytes;
  report.arena_bytes = schedule.placement.peak_bytes;
  report.arena_lower_bound_bytes = schedule.placement.lower_bound_bytes;
  report.kept_bytes = schedule.kept_bytes;
  report.state_bytes = state_bytes(emitted.program.plans[0]);
  report.float_ops = count_float_ops(compiled.lowered.graph);
  report.peak = find_peak(compiled.lowered, schedule);
  report_ops(compiled.lowered, schedule, *target, &report);
  report_buffers(compiled.lowered, schedule, &report);
  fates.lowered(compiled.integer_graph, compiled.lowered, &report);
  THIMBLE_CHECK(note_engine_off(imported, options, &report));
  THIMBLE_CHECK(check_memories(options, &report));
  compiled.pte = std::move(emitted.bytes);
  report.compile_seconds = clock.seconds();
  return compiled;
}

}  // namespace thimble::driver
