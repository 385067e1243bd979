// SPDX-License-Identifier: Apache-2.0
#pragma once
// compile(): compiles a `.pt2` to the bytes of a `.pte` and returns a report with all results of
// the stages.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/progress.h"
#include "base/result.h"
#include "driver/op_selectors.h"
#include "engine/engine.h"
#include "engine/part.h"
#include "engine/runtime_work.h"
#include "ir/graph.h"
#include "partition/partition.h"
#include "passes/preprocess.h"
#include "quant/quantize.h"

namespace thimble::driver {

struct SampleArrays;  // data.h

/// Which weights have 4 bits, where a kernel exists.
enum class Int4Weights : uint8_t {
  kNone,
  kPerChannel,   // all, with a scale per output channel
  kPerGroup,     // all, with a factor for each 32 inputs of an output channel in addition
  kWithinFlash,  // as many as the limit of flash requires (int4_choice.h)
};

struct Compiled;

/// Options that are not set are taken from the part's recipe, or have a default.
struct CompileOptions {
  std::string target;
  std::filesystem::path calibration;            // empty: no data; "random": random samples
  std::shared_ptr<const SampleArrays> samples;  // used instead of `calibration` if not null
  quant::IoTypes io;
  std::vector<passes::InputFormat> preprocess;  // what the application passes to inputs
  std::vector<double> input_mean, input_std;    // of the only uint8 or int16 input
  std::optional<quant::Observer> observer;
  bool choose_observer = false;  // quant::QuantizeOptions; set by with_recipe()
  bool pareto = false;           // report->pareto
  bool owns_inputs = false;      // inputs are in the arena, not in memory of the application
  engine::Optimize optimize = engine::Optimize::kSpeed;
  bool external_weights = false;       // an engine's constants are named data of the file
  engine::VendorTools vendor;          // vendor's compilers for delegates; holds the model's name
  std::optional<bool> equalize, tune;  // quant::QuantizeOptions
  int effort = quant::kDefaultEffort;  // quant::QuantizeOptions
  std::optional<engine::Dialect> dialect;
  bool names = false;                    // write the name of each call's result (emit/layers.h)
  bool io_channels_last = false;         // declare 4-D inputs and outputs as NHWC
  std::optional<bool> wide_activations;  // int16 where a kernel exists
  Int4Weights int4 = Int4Weights::kNone;
  int64_t int4_flash_max = 0;               // bytes; only for Int4Weights::kWithinFlash
  bool narrow_softmax = false;              // int8 also for a softmax at the end
  std::optional<quant::AccuracyGoal> goal;  // labels come from the calibration data
  std::vector<QuantChoice> quant;           // precision of single operators
  bool keep_float = false;                  // float32 instead of quantized values
  bool soft_float = false;                  // float32 also on a core without an FPU
  std::vector<std::string> engine_off;      // patterns of operators that stay on the CPU
  std::vector<std::string> skip_passes;     // names of passes that do not run
  std::optional<bool> keep_small;           // keep subgraphs on the NPU even if the CPU is faster
  std::map<std::string, int64_t> shapes;    // values of symbolic sizes
  std::map<std::string, int64_t> memory;    // size limit in bytes by memory name: "sram", "flash"
  std::string kernel_code;                  // engine::Recipe::kernel_code; empty: that of the part
  bool c_output = false;                    // constants are C arrays, not one file
  bool pte_output = true;                   // a `.pte` is written
  std::filesystem::path save_stages;        // folder for stage files; empty: do not save
  bool measure_quality = true;              // report->quant has the SQNR of outputs and operators
  ProgressFunction progress;                // may be empty
  /// Receives the whole compilation, with report.refusal, if the program is too large for a memory;
  /// may be empty. compile() then returns the refusal, or the error of this function.
  std::function<Status(const Compiled&)> on_refusal;
};

struct OpReport {
  std::string name;   // name of the result value
  std::string op;     // "cortex_m::quantized_add.out"
  std::string types;  // "i8", or "f32->i8"
  std::string engine;
  ir::Source source;
  int64_t macs = 0;
  int64_t elements_out = 0;
  engine::CostTerms terms;  // only for calls of the core
  int64_t bytes_out = 0;
  int64_t constant_bytes = 0;           // weights and parameters of this call
  int64_t live_bytes = 0;               // bytes of the arena that are live during the call
  std::optional<int64_t> instructions;  // an estimate
  std::optional<int64_t> cycles;        // an estimate, with wait states
  engine::CycleBasis cycle_basis = engine::CycleBasis::kMeasured;
  std::optional<double> time_us;  // an estimate
  std::string reason;             // why the operator is not on the expected engine; may be empty

  [[nodiscard]] bool has_measured_cycles() const {
    return cycle_basis == engine::CycleBasis::kMeasured;
  }
};

/// An operator of the user's program.
struct SourceOpReport {
  ir::Source source;
  std::vector<size_t> calls;   // indices into CompileReport::ops; may be empty
  std::string engine;          // empty if there are no calls
  int64_t bytes_out = 0;       // result of the last call
  int64_t constant_bytes = 0;  // sum over all calls, as the following members
  int64_t macs = 0;
  std::optional<int64_t> instructions;  // an estimate
  std::string reason;       // why there are no calls, or not on the expected engine; may be empty
  std::string replaced_by;  // node whose calls also compute this one; empty: none
};

/// An operator that does not run on the part's first engine.
struct Fallback {
  std::string op;  // name of the operator's node, or of its result value
  std::string reason;
};

struct MemoryUse {
  std::string name;
  int64_t bytes_used = 0;
  int64_t bytes_size = 0;  // 0: no limit known
};

/// An object that a linker can place, and the memory chosen for it (object_placement.h).
struct PlacedObject {
  std::string name;  // "arena", "model", or an array of the C output: "constant_3"
  engine::MemoryContents contents = engine::MemoryContents::kConstants;
  std::string of;  // the first call that reads an array
  int64_t bytes = 0;
  int64_t accessed_bytes = 0;  // bytes accessed per inference
  std::string memory;
  std::string image;   // memory that holds its load image; empty: not loaded at startup
  std::string reason;  // why this memory was chosen
};
struct ObjectPlacement {
  std::vector<PlacedObject> objects;
  std::string code_memory, stack_memory;  // hold code, and variables and stack; empty: not known
  int64_t code_bytes = 0, stack_bytes = 0;
  int64_t cycles = 0;           // estimate for all accesses of one inference
  int64_t cycles_at_least = 0;  // lower bound for any placement
  bool proven = false;          // true: no placement needs fewer cycles
};

/// A part of the arena. `first` and `last`, inclusive, are rows of CompileReport::ops.
struct Buffer {
  std::string name;  // value name; empty: scratch of one call
  int64_t offset = 0;
  int64_t bytes = 0;
  int first = 0, last = 0;
};

/// Flash, RAM and stack of the program in a firmware, without startup code, application and the
/// drivers of an NPU's vendor (linked_size.h). All are upper bounds for this compiler and its
/// flags.
struct LinkedSize {
  std::string compiler;       // "gcc 12.2.1"
  std::string core;           // the core for which the code was compiled
  bool c_output = false;      // the program is C code
  bool needs_driver = false;  // delegates call a driver of the vendor, which is not counted
  int64_t program_bytes = 0;  // the `.pte`, or the constants and call tables of the C
  int64_t code_bytes = 0;     // kernels, runtime or functions of the C, padding
  int64_t kernel_bytes = 0;   // part of `code_bytes` that only kernels need
  int64_t static_bytes = 0;   // thimble_model, variables, padding; not the arena
  int64_t stack_bytes = 0;    // below the frame of the caller
  [[nodiscard]] int64_t flash_bytes() const { return program_bytes + code_bytes; }
};

/// Code of kernels that the startup code copies to RAM.
struct KernelCode {
  std::string memory;                   // "itcm"
  int64_t bytes = 0;                    // upper bound; 0: the size of the code is not known
  std::optional<int64_t> cycles_saved;  // of one run; nothing: wait states are not known
};

struct Peak {
  ir::Source source;  // the operator with the most live bytes
  std::string op;
  int64_t bytes = 0;
};

/// An input or output of the compiled model.
struct IoReport {
  std::string name;
  ir::Type type;  // includes the quantization of int8 values
};

/// A file that the command writes.
struct WrittenFile {
  std::string path;
  int64_t bytes = 0;
};

/// Cycles of the delegates of one NPU, and their time on its clock without the overhead of calls;
/// estimates.
struct NpuUse {
  std::string engine;
  std::optional<int64_t> cycles;
  std::optional<double> time_us;
};

/// Calls that run while an NPU works; estimates.
struct OverlapReport {
  std::string engine;
  int delegate = 0;                     // index in Compiled::lowered.delegates
  int64_t calls = 0;                    // that run while the NPU works
  std::optional<int64_t> npu_cycles;    // of the NPU's call, on its own clock
  int64_t core_cycles = 0;              // of the core in these calls
  std::optional<double> saved_us;       // nothing: a clock is not known
  std::optional<int64_t> saved_cycles;  // of the core's clock; if a clock is not known, of an NPU
                                        // with the core's clock
};

/// Set if the SQNR on calibration data is below kWarnSqnrDb (output_quality.h).
struct AccuracyWarning {
  double sqnr_db = 0;
  std::string output;  // the one with this SQNR
  std::string op;      // the operator that adds the largest noise; may be empty
  ir::Source source;   // its position
  std::string option;  // the option with the highest SQNR of those that were tried; may be empty
  double option_sqnr_db = 0;
};

struct CompileReport {
  std::optional<AccuracyWarning> accuracy_warning;
  std::string model;
  std::string target;
  engine::Optimize optimize = engine::Optimize::kSpeed;
  double compile_seconds = 0;
  double calibrate_seconds = 0;
  int64_t parameters = 0;
  int64_t pte_bytes = 0;
  int64_t weights_bytes = 0;
  int64_t arena_bytes = 0;
  int64_t arena_lower_bound_bytes = 0;
  int64_t kept_bytes = 0;        // part of the arena that holds state between runs
  int64_t input_bytes = 0;       // total size of all inputs
  bool inputs_in_arena = false;  // true: all inputs are in the arena
  int64_t state_bytes = 0;
  std::optional<LinkedSize> linked;    // nothing: the sizes of the linked code are not known
  std::optional<LinkedSize> linked_c;  // of the C, if both a `.pte` and C are written
  int64_t sram_constant_bytes = 0;  // constants that an NPU reads from SRAM, loaded from the file
  bool dedicated_sram = false;      // the SRAM is the NPU's, the arena is in DRAM
  int64_t dram_constant_bytes = 0;  // constants that an NPU reads from DRAM, loaded from the file
  std::vector<MemoryUse> memories;
  std::optional<ObjectPlacement> placement;  // only if the part states the speed of its memories
  std::optional<KernelCode> kernel_code;     // nothing: kernels run where the program is stored
  std::string refusal;   // why the program does not fit, with alternatives; empty if it fits
  std::string shortage;  // why the objects fit in no such memories; empty if they fit
  std::shared_ptr<const ErrorFacts> shortage_facts;  // of `shortage`; may be null
  std::vector<OpReport> ops;
  std::vector<SourceOpReport> source_ops;  // in the order of the export
  int64_t float_ops = 0;
  bool keeps_float = false;  // CompileOptions::keep_float
  std::vector<Fallback> fallbacks;
  std::optional<int64_t> npu_cycles;  // an estimate for all delegates
  std::vector<NpuUse> npus;           // by engine
  int64_t npu_calls = 0;
  std::vector<OverlapReport> overlaps;
  int64_t overlap_arena_bytes = 0;     // part of arena_bytes that they cost
  std::optional<double> time_us;       // an estimate, where clocks and the cost of a call are known
  std::optional<int64_t> cycles;       // of the core for one run, an estimate
  std::optional<int64_t> int8_cycles;  // the same with int8 weights, if some have 4 bits
  std::optional<int64_t> runtime_cycles;  // part of `cycles`: the runtime, outside of kernels
  std::optional<engine::RuntimeWork> runtime_work;  // nothing: C code calls the kernels itself
  double clock_mhz = 0;                             // of the core; 0: unknown
  double time_error_percent = 0;  // half of the error band of `time_us`; 0: not validated
  double marked_percent = 0;      // of `time_us`: operators whose cycles are not kMeasured
  std::vector<std::string> memories_without_waits;  // `time_us` lacks their wait states
  std::optional<double> energy_uj;                  // an estimate for one run
  std::vector<std::string> warnings;  // probable mistakes: ranges of the data, a low SQNR
  std::vector<std::string> notes;     // of the engines: requirements for running the file
  std::optional<engine::SramChoice> sram_choice;  // of all delegates together
  std::vector<engine::ParetoPoint> pareto;  // Pareto front of SRAM and cycles of the delegates
  std::vector<WrittenFile> files;           // without the report itself
  Peak peak;
  std::vector<Buffer> buffers;
  quant::QuantReport quant;
  std::vector<IoReport> inputs;
  std::vector<IoReport> outputs;
};

struct Compiled {
  Bytes pte;
  ir::Graph integer_graph;  // before lowering, in the arithmetic of the engines
  engine::Lowered lowered;
  std::shared_ptr<const engine::Part> part;
  std::vector<partition::Subgraph> subgraphs;  // the subgraphs of the lowered graph's delegates
  CompileReport report;
};

/// Returns an error for bad input and unsupported models. Writes no files except the requested
/// stage files.
[[nodiscard]] Result<Compiled> compile(const std::filesystem::path& model,
                                       const CompileOptions& options);

/// Returns the names that CompileOptions::skip_passes may have, in execution order.
[[nodiscard]] std::vector<std::string> pass_names();

/// Returns the imported float graph after the float passes; `run` and `compare` evaluate it.
[[nodiscard]] Result<ir::Graph> load_float_graph(
    const std::filesystem::path& model, const std::map<std::string, int64_t>& shapes,
    const std::vector<passes::InputFormat>& preprocess = {});

}  // namespace thimble::driver
