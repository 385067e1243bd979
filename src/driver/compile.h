#pragma once
// compile(): the whole road from a `.pt2` to the bytes of a `.pte`, and everything worth telling
// about it.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "driver/steering.h"
#include "ir/graph.h"
#include "partition/partition.h"
#include "quant/quantize.h"
#include "engine/part.h"
#include "engine/engine.h"

namespace thimble::driver {

/// What is not given is the part's (its recipe), or the usual.
struct CompileOptions {
  std::string target;
  std::filesystem::path calibration;  // empty: none given
  quant::Io io = quant::Io::kFloat;
  std::optional<quant::Observer> observer;
  bool pareto = false;       // report->pareto
  bool owns_inputs = false;  // inputs in the arena, not the caller's
  engine::Optimize optimize = engine::Optimize::kSpeed;
  bool weights_apart = false;          // an engine\'s constants as named data of the file
  engine::VendorTools vendor;          // that make regions what silicon runs; the model's name too
  std::optional<bool> equalize, tune;  // quant::QuantizeOptions
  std::optional<engine::Dialect> dialect;
  bool names = false;                       // the file says which value each call makes
  bool io_channels_last = false;            // declare 4-D inputs and outputs as NHWC
  std::optional<bool> wide_activations;     // int16 wherever there is a kernel
  bool narrow_softmax = false;              // int8 even for a softmax at the end
  std::optional<quant::AccuracyGoal> goal;  // labels are those of the calibration data
  std::vector<QuantChoice> quant;           // precision of single operators
  std::vector<std::string> engine_off;      // operators that stay on the CPU: patterns
  std::optional<bool> keep_small;           // regions that the CPU would run faster stay on the NPU
  std::map<std::string, int64_t> shapes;    // open sizes
  std::map<std::string, int64_t> memory;    // bytes allowed, by memory name: "sram", "flash"
  bool c_output = false;                    // constants are arrays of C, not one file
  std::filesystem::path save_stages;        // empty: do not
};

struct OpReport {
  std::string name;   // of the value it makes
  std::string op;     // "cortex_m::quantized_add.out"
  std::string types;  // "i8", or "f32->i8"
  std::string engine;
  ir::Source source;
  int64_t macs = 0;
  int64_t steps = 0;  // of the innermost loop
  int64_t elements_out = 0;
  int64_t bytes_out = 0;
  int64_t constant_bytes = 0;           // weights and parameters of this call
  int64_t live_bytes = 0;               // in the arena while it runs
  std::optional<int64_t> instructions;  // an estimate
  std::optional<int64_t> cycles;        // an estimate, of an engine's operators
  std::string reason;  // why it is not where the user might expect it; empty = nothing to say
};

/// An operator of the user's program.
struct SourceOpReport {
  ir::Source source;
  std::vector<size_t> calls;   // indices into CompileReport::ops; empty: none of its own
  std::string engine;          // empty without calls
  int64_t bytes_out = 0;       // of the last call
  int64_t constant_bytes = 0;  // of all calls, like the following
  int64_t macs = 0;
  std::optional<int64_t> instructions;  // an estimate
  std::string reason;  // why it has no calls, or not the user's engine; empty = nothing to say
};

/// An operator that is not on the part's first engine.
struct Fallback {
  std::string op;  // where the user wrote it, or the value's name
  std::string reason;
};

struct MemoryUse {
  std::string name;
  int64_t bytes_used = 0;
  int64_t bytes_size = 0;  // 0 = no limit known
};

/// What a linker can place, and the memory of the part that was chosen for it (placement.h).
struct PlacedObject {
  std::string name;      // "arena", "model", or an array of the C: "constant_3"
  std::string contents;  // of target::memory_contents()
  std::string of;        // the call that reads an array first
  int64_t bytes = 0;
  int64_t accessed_bytes = 0;  // in one inference
  std::string memory;
  std::string image;   // the memory that it is loaded from at the start; empty: it is not
  std::string reason;  // why this memory
};
struct Placement {
  std::vector<PlacedObject> objects;
  int64_t cycles = 0;           // of all accesses of one inference, an estimate
  int64_t cycles_at_least = 0;  // no choice takes fewer
  bool proven = false;          // nor fewer than this one
};

/// A piece of the arena, from one call to another (both included).
struct Buffer {
  std::string name;  // of the value; empty: memory of one call
  int64_t offset = 0;
  int64_t bytes = 0;
  int first = 0, last = 0;
};

struct Peak {
  ir::Source source;  // the operator at which the plan is fullest
  std::string op;
  int64_t bytes = 0;
};

/// An input or output of the compiled model.
struct IoReport {
  std::string name;
  ir::Type type;  // with the quantization of int8 ones
};

struct CompileReport {
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
  int64_t kept_bytes = 0;        // of the arena: state that survives a run
  int64_t input_bytes = 0;       // of all inputs
  bool inputs_in_arena = false;  // all of them
  int64_t state_bytes = 0;
  std::vector<MemoryUse> memories;
  std::optional<Placement> placement;  // of a part that says how fast its memories are
  std::vector<OpReport> ops;
  std::vector<SourceOpReport> source_ops;  // in the order of the export
  int64_t float_ops = 0;
  std::vector<Fallback> fallbacks;
  std::optional<int64_t> npu_cycles;  // an estimate, of all regions
  int64_t npu_calls = 0;
  std::optional<double> time_us;   // an estimate, where clocks and the cost of a call are known
  std::vector<std::string> notes;  // of the engines, on what the file needs to run
  std::vector<engine::ParetoPoint> pareto;  // what the regions can do with how much SRAM
  Peak peak;
  std::vector<Buffer> buffers;
  quant::QuantReport quant;
  std::vector<IoReport> inputs;
  std::vector<IoReport> outputs;
};

struct Compiled {
  Bytes pte;
  ir::Graph integer_graph;  // what the program means, in its engines' arithmetic, before lowering
  engine::Lowered lowered;
  std::shared_ptr<const engine::Part> part;
  std::vector<partition::Region> regions;  // which the lowered graph's delegates are
  CompileReport report;
};

/// Bad input and unsupported models come back as errors; nothing is written but the stages asked
/// for.
[[nodiscard]] Result<Compiled> compile(const std::filesystem::path& model,
                                       const CompileOptions& options);

/// A float graph as imported and cleaned: what `run` and `compare` evaluate.
[[nodiscard]] Result<ir::Graph> load_float_graph(const std::filesystem::path& model,
                                                 const std::map<std::string, int64_t>& shapes);

}  // namespace thimble::driver
