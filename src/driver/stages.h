// SPDX-License-Identifier: Apache-2.0
#pragma once
// The stages of compile() one by one, so that several parts can share them. compile() for one part:
//
//   THIMBLE_TRY(const FloatModel model, import_model(path, options, &files));
//   THIMBLE_TRY(const Calibration data, read_calibration(model, options));
//   THIMBLE_TRY(const quant::QuantizedModel quantized,
//               quantize_model(model, data, options, arithmetic_of(options, *part)));
//   THIMBLE_TRY(Program program,
//               write_program(model, quantized, part, options,
//                             ram_limit(*part, memory_sizes(options, *part)), &files));
//   THIMBLE_TRY(Compiled compiled,
//               report_program(std::move(program), model, quantized, part, options));
//
// The options are those of with_recipe(): the first stage depends on no part, the second one only
// on the part's Arithmetic, the program on its core, engines and memory limit. The functions may
// run in several threads at once with the same model.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "driver/compile.h"
#include "driver/data.h"
#include "driver/op_provenance.h"
#include "driver/stage_files.h"
#include "emit/emit.h"
#include "engine/part.h"
#include "ir/graph.h"
#include "ir/refused_op.h"
#include "memory/memory_plan.h"
#include "quant/quantize.h"

namespace thimble::driver {

/// Value of CompileOptions::calibration for random samples instead of a file.
inline constexpr std::string_view kRandomCalibration = "random";

/// A model before quantization.
struct FloatModel {
  std::string name;    // the file's name
  ir::Graph imported;  // as exported; without data after release_imported_constants()
  ir::Graph graph;     // after the float passes
  OpProvenance provenance;
  std::vector<std::string> notes;         // of the import
  bool has_dynamic_quantization = false;  // activations are float in the graph
  int64_t parameters = 0;                 // elements of all constants of `graph`
};
/// `refused` receives the nodes that a not-supported error is about.
[[nodiscard]] Result<FloatModel> import_model(const std::filesystem::path& path,
                                              const CompileOptions& options, StageFiles* files,
                                              std::vector<ir::RefusedNode>* refused = nullptr);

/// Frees the data of the constants of model->imported. The passes change most weights: without
/// this, the memory would have all weights twice. annotate() reads them.
void release_imported_constants(FloatModel* model);

/// Frees the data of the constants of model->graph, after the last quantize_model().
void release_float_constants(FloatModel* model);

/// Checks the options that select operators of the model, and 16-bit activations.
[[nodiscard]] Status check_options(const FloatModel& model, const CompileOptions& options,
                                   const engine::Part& part);

struct Calibration {
  Samples samples;      // empty for a model that PyTorch quantized
  bool random = false;  // the samples say nothing about the accuracy
  std::vector<std::string> warnings;
};
/// An error if a float model has no calibration data.
[[nodiscard]] Result<Calibration> read_calibration(const FloatModel& model,
                                                   const CompileOptions& options);

/// Everything in which the quantization of a model differs between parts. Equal objects give equal
/// integer graphs.
struct Arithmetic {
  quant::QuantSpec spec;
  quant::Observer observer = quant::kDefaultObserver;
  bool equalize = false, tune = false, wide_activations = false;
  int effort = quant::kDefaultEffort;
  bool choose_observer = false;

  bool operator==(const Arithmetic&) const = default;
};
[[nodiscard]] Arithmetic arithmetic_of(const CompileOptions& options, const engine::Part& part);

/// Operators with weights of 4 bits, in addition to those of the options (int4_choice.h).
struct Int4Selection {
  bool rank = false;              // the report has the candidates
  std::set<std::string> results;  // names of results in the prepared graph
};
/// Arguments of quantize_model() that few callers have.
struct QuantizeExtras {
  quant::JointCalibration* joint = nullptr;  // of the methods of one model, see observe_model()
  const Int4Selection* int4 = nullptr;       // required for Int4Weights::kWithinFlash
  std::function<void(int64_t)> keep_samples = {};  // quant::QuantizeOptions::keep_samples
};
[[nodiscard]] Result<quant::QuantizedModel> quantize_model(const FloatModel& model,
                                                           const Calibration& data,
                                                           const CompileOptions& options,
                                                           const Arithmetic& arithmetic,
                                                           const QuantizeExtras& extras = {});
/// Adds what a method of several observes to `joint`, before quantize_model() of any of them.
[[nodiscard]] Status observe_model(const FloatModel& model, const Calibration& data,
                                   const CompileOptions& options, const Arithmetic& arithmetic,
                                   quant::JointCalibration* joint);

/// A model as a program for a part, without the report on it.
struct Program {
  Compiled compiled;                 // its report has the inputs, the outputs and notes
  std::vector<std::string> reasons;  // partition::Partition::reasons
  std::vector<std::pair<std::string, std::string>> added;  // partition::Partition::added
  memory::MemoryPlan memory_plan;
  emit::Emitted emitted;
  int64_t effort = 0;  // of all attempts to write it (alternatives.h)
};

/// Partitions, lowers, plans the memory and writes the program. Arena, variables and stack should
/// need at most `sram_bytes`; on a part without engines, a limit that a program meets without it
/// changes nothing.
[[nodiscard]] Result<Program> write_program(const FloatModel& model,
                                            const quant::QuantizedModel& quantized,
                                            std::shared_ptr<const engine::Part> part,
                                            const CompileOptions& options,
                                            std::optional<int64_t> sram_bytes, StageFiles* files);

/// Completes the report for a part. It is the part that the program was written for, or another one
/// with the same core and engines; then the first one must outlive the result. A memory that is too
/// small is no error: first_overflow() (does_not_fit.h) finds it.
[[nodiscard]] Result<Compiled> report_program(Program program, const FloatModel& model,
                                              const quant::QuantizedModel& quantized,
                                              std::shared_ptr<const engine::Part> part,
                                              const CompileOptions& options);

}  // namespace thimble::driver
