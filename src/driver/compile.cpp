// SPDX-License-Identifier: Apache-2.0
#include "driver/compile.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>

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
#include "formats/pte/print.h"
#include "formats/pte/write.h"
#include "ir/op_cost.h"
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

/// Saves the file of a program that runs on the CPU only, and the graph decompiled from it.
Status save_partition(StageFiles* files, std::string_view engine, const emit::Emitted& emitted) {
  if (!files->wanted()) return ok();
  THIMBLE_TRY(const ir::Graph decompiled, emit::decompile(emitted.program));
  THIMBLE_CHECK(files->save(fmt::format("partition-{}.ir", engine), decompiled));
  return files->save(fmt::format("partition-{}.pte", engine), emitted.bytes);
}

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
  StageFiles files(asked.save_stages, {path, asked.calibration});
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
              options.int4 == Int4Weights::kWithinFlash
                  ? quantize_within_flash(model, data, options, part)
                  : quantize_model(model, data, options, arithmetic_of(options, *part),
                                   {.keep_samples = keep_samples}));
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
  if (quantized.report.int4_ops > 0 && report.cycles) {
    THIMBLE_TRY(report.int8_cycles, cycles_with_int8_weights(model, quantized, part, options));
  }
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
