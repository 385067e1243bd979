// SPDX-License-Identifier: Apache-2.0
#pragma once
// Interface between cores and NPUs and the rest of the compiler: data and a few functions.
//
// lower() turns an integer graph into a graph that the core's kernels can run as it is: operators
// are legalized, memory orders are chosen, copies are explicit. It adds one KernelCall per operator
// that is not only a view. The lowered graph is still IR: the reference evaluator runs it, so every
// lowering step is checked against the graph before it.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "abi/named_data.h"
#include "abi/pte_op.h"
#include "base/result.h"
#include "ir/graph.h"

namespace thimble::engine {

/// Operators of the calls: Thimble's; only ExecuTorch's; ExecuTorch's, and Thimble's where
/// ExecuTorch has no kernel (for programs that other compilers write).
enum class Dialect : uint8_t { kNative, kStock, kStockAndNative };

/// Optimization goal where several kernel variants exist. docs/memory.md lists the costs of each
/// goal.
enum class Optimize : uint8_t { kSpeed, kSize, kFlash };
inline constexpr Optimize kOptimizes[] = {Optimize::kSpeed, Optimize::kSize, Optimize::kFlash};
[[nodiscard]] std::string_view optimize_name(Optimize optimize);  // "speed", ...

struct Options {
  Dialect dialect = Dialect::kNative;
  bool owns_inputs = false;  // Lowered::owns_inputs
  Optimize optimize = Optimize::kSpeed;
  /// With kSpeed: convolutions with groups become operators with faster kernels and more memory.
  bool regularize_groups = true;
  /// With kSize: operators of the lowered graph whose call must use the smallest scratch.
  std::vector<int> min_scratch_ops{};
};

/// A constant of the program with its bytes as stored in the file.
struct Constant {
  std::shared_ptr<const std::vector<std::byte>> bytes;
  ir::DType dtype = ir::DType::kU8;
  std::vector<int64_t> sizes;
  ir::DimOrder dim_order;  // empty = contiguous
};
struct ValueRef {
  ir::ValueId id;
};
struct None {};
/// Memory that only one call uses; live during that call.
struct Scratch {
  int64_t bytes;
};
using Integers = std::vector<int64_t>;
using ValueList = std::vector<ir::ValueId>;
/// One argument of a row in pte_ops.def. Arguments of kind T, t and R are a ValueRef, Constant,
/// None, Scratch or ValueList.
using Argument =
    std::variant<ValueRef, Constant, None, Scratch, int64_t, bool, double, Integers, ValueList>;

struct KernelCall {
  abi::PteOp op{};
  std::vector<Argument> arguments;  // without the out tensor
  ir::ValueId out = ir::kNoValue;
  int ir_op = -1;  // index into the lowered graph's operators
  /// For a delegate call: index of the delegate and its further results; `op` is unused. Else -1.
  int delegate = -1;
  ValueList extra_outputs;
  /// For a delegate call: number of calls after it that run while the delegate works. The results
  /// are complete after the last of them.
  int overlap = 0;
  /// Index of the argument whose memory the result may reuse if that value dies here; -1 = none.
  int in_place = -1;
  /// The result may overlap argument 0, which must die here, if the result begins at least this
  /// many bytes before it. Empty: no overlap allowed.
  std::optional<int64_t> lead;
};

/// Calls visit(value) for every operand of the call, once per occurrence.
template <typename Visit>
void for_each_operand(const KernelCall& call, Visit visit) {
  for (const Argument& argument : call.arguments) {
    if (const auto* ref = std::get_if<ValueRef>(&argument)) visit(ref->id);
    if (const auto* list = std::get_if<ValueList>(&argument)) {
      for (const ir::ValueId value : *list) visit(value);
    }
  }
}

/// Bytes of the call's scratch arguments.
[[nodiscard]] inline int64_t scratch_bytes(const KernelCall& call) {
  int64_t bytes = 0;
  for (const Argument& argument : call.arguments) {
    if (const auto* scratch = std::get_if<Scratch>(&argument)) bytes += scratch->bytes;
  }
  return bytes;
}

/// Position of a delegate's input or output in the delegate's scratch memory.
struct DelegateIo {
  int64_t offset = 0;
  int64_t bytes = 0;
};

/// The report's row for one operator of a delegate's subgraph.
struct DelegateRow {
  int ir_op = -1;                 // operator index in the subgraph
  std::string what;               // "CONV 3x3 s1"
  std::optional<int64_t> cycles;  // an estimate
  std::string reason;             // note for the report; may be empty
  std::vector<uint32_t> words{};  // of its operations in the payload, as a profile names them
};

/// A generated file that accompanies the `.pte` of a compiled model.
struct GeneratedFile {
  std::string name;
  std::string text;
};

/// One schedule of a Pareto front: no other schedule of the list is better in both values.
struct ParetoPoint {
  int64_t sram_bytes = 0;
  int64_t cycles = 0;
};

/// Schedule that an engine selected without a budget, and the ends of its Pareto front. All cycles
/// are the scheduler's estimates.
struct SramChoice {
  std::string rule;  // "at most 2 % slower than ...", after the number of bytes
  ParetoPoint chosen, smallest, fastest;
};

/// A subgraph compiled for an engine.
struct Delegate {
  std::string engine;  // name of the engine in the part
  std::string id;      // backend id in the file
  std::vector<std::byte> payload;
  abi::MemoryMode memory_mode = abi::MemoryMode::kUnknown;
  uint16_t system = 0;                                                // abi::DelegateRecord::system
  std::vector<std::pair<std::string, std::vector<std::byte>>> named;  // named data of the payload
  std::vector<std::pair<std::string, std::string>> specs;             // compile specs of the file
  int64_t constant_bytes = 0;                                         // weights in the payload
  int64_t scratch_bytes = 0, fast_scratch_bytes = 0;
  bool runs_in_background = false;      // its device works while the core executes other calls
  int64_t kept_bytes = 0;               // own memory in the arena, live during the whole program
  std::vector<GeneratedFile> files;     // for the firmware's build
  std::vector<std::byte> tflite_model;  // the subgraph as LiteRT (.tflite) model for the vendor
  std::string no_tflite_reason;         // why `tflite_model` is empty, if the vendor has tools
  std::vector<DelegateIo> inputs, outputs;
  std::vector<DelegateRow> rows;
  std::optional<int64_t> cycles;  // an estimate
  double call_us = 0;             // overhead of one call in addition to `cycles`; 0: unknown
  double clock_mhz = 0;           // engine clock; 0: unknown
  std::string note;               // note printed for every compilation for this engine
  std::optional<SramChoice> sram_choice;  // nothing: a budget or `smallest` decided
};

/// A lowered graph and its calls. States have memory (engine/state.h): the next value of a state is
/// the state itself or the result of one call.
struct Lowered {
  ir::Graph graph;
  std::vector<KernelCall> calls;    // in execution order; an operator without a call is a view
  std::vector<Delegate> delegates;  // indexed by KernelCall::delegate; empty until compiled
  /// If true, inputs are in the arena and a run may overwrite them. Else they are in memory that
  /// the application owns.
  bool owns_inputs = false;
};

struct Memory {
  std::string name;
  int64_t bytes = 0;  // 0 = unknown
};

struct Core;
struct LinkRequest;  // linked_code.h
struct LinkedCode;
struct RuntimeWork;  // runtime_work.h
struct CodeTraffic;  // code_traffic.h

/// Sizes of one call that its estimated cost is linear in (engine/cost_terms.def).
struct CostTerms {
#define THIMBLE_COST_TERM(name) int64_t name = 0;
#include "engine/cost_terms.def"
#undef THIMBLE_COST_TERM
};

/// How well the cycles of a call are known. All but the first one are marked in reports.
enum class CycleBasis : uint8_t {
  kMeasured,      // a cost function that was fitted to calls on the core
  kInaccurate,    // the same, but it differs by more than kInaccuratePercent from them on average
  kInstructions,  // only its instructions were measured: times the core's cycles per instruction
  kAverage,       // the operator was not measured: the cycles of an average one of its size
};
inline constexpr int kInaccuratePercent = 10;

/// Returns "measured", "inaccurate", "instructions" or "average".
[[nodiscard]] std::string_view cycle_basis_name(CycleBasis basis);

/// Sizes of one call and its estimated cost; no value if no estimate exists.
struct Cost {
  CostTerms terms;
  std::optional<int64_t> instructions;
  std::optional<int64_t> cycles;  // without wait states
  CycleBasis cycle_basis = CycleBasis::kMeasured;
};

/// Data reuse of one kind of kernel. `weight_rows`: number of output rows (pixels, or rows of a
/// matrix product) computed per load of the weights. `macs_per_byte`: number of multiplications per
/// loaded input byte.
struct DataReuse {
  int64_t weight_rows = 1;
  double macs_per_byte = 1;
};
struct KernelReuse {
  DataReuse dense, depthwise, linear;
};

struct Core {
  std::string_view name;    // "cortex-m55"
  std::string_view engine;  // engine name in reports, for operators that run on this core
  std::string_view summary;
  abi::Isa isa{};
  Result<Lowered> (*lower)(const ir::Graph& graph, const Core& target,
                           const Options& options) = nullptr;
  Cost (*cost)(const Lowered& lowered, const KernelCall& call, const Core& target) = nullptr;
  /// Returns the code that a firmware links for a program; nothing if it is not known. Null: never.
  std::optional<LinkedCode> (*linked_code)(const LinkRequest& request, const Core& core) = nullptr;
  /// Returns the cycles of a run outside of kernels; nothing if not measured. Null: never.
  std::optional<int64_t> (*runtime_cycles)(const RuntimeWork& work, const Core& core) = nullptr;
  /// Returns how the core reads its instructions; null if it was not measured. Null: never.
  const CodeTraffic* (*code_traffic)(const Core& core) = nullptr;
  KernelReuse reuse;
  std::string_view timing;  // model of its cycles: a name of cycles/core_timing.h
  /// True if a manual states the instruction timings, or if boards were compared with the model of
  /// the core: times have an error band.
  bool has_time_band = false;

  /// Returns true for the cores with DSP instructions: all parts of targets/ with such a core have
  /// an FPU, and the firmware is built for it.
  [[nodiscard]] bool has_fpu() const { return isa == abi::Isa::kDsp || isa == abi::Isa::kMve; }
};

/// Result of a legality query. `reason` is printed after the operator if it is not legal.
struct Legality {
  bool legal = false;
  std::string reason;
};

/// Numbers of a part's file by dotted name: "axi0.read_latency".
using Settings = std::map<std::string, double, std::less<>>;

/// An operator that an engine supports, for the printed list.
struct OpSupport {
  std::string op;      // operator of the integer graph: "qconv2d"
  std::string limits;  // "int8, at most 4096 channels"
};

struct Npu;
/// An NPU as an entry of a part.
struct PartNpu {
  const Npu* engine = nullptr;
  std::string name;         // in the part's file
  std::string memory_mode;  // "Shared_Sram"; empty: the engine's default
  std::string system;       // name of a system configuration of the engine; empty: the default
  Settings settings;        // numbers that override those of the system configuration
};

/// Installed tools of an engine's vendor, and the requested output.
struct VendorTools {
  std::string form;              // "program", "header", "sdk"; empty: no output requested
  std::filesystem::path folder;  // installation folder of the tools; empty: not given
  std::filesystem::path helper;  // Thimble's helper program that calls the tools
  std::chrono::seconds time_limit{300};
  std::string model;              // model name
  std::string flags;              // further options, passed to the vendor's tool unchanged
  bool prefetch = false;          // fetch constants to SRAM while the engine runs
  bool kernel_selection = false;  // write the table of the firmware kernels that the model needs
};

/// Clock of an NPU in its part, and the overhead of one call in addition to its cycles. 0: unknown.
struct NpuTiming {
  double clock_mhz = 0;
  double call_us = 0;
};

struct NpuOptions {
  std::optional<int64_t> sram_bytes;  // upper bound of the subgraph's scratch
  bool sram_is_budget = false;        // the user stated it: minimize cycles within it
  int64_t other_ram_bytes = 0;        // variables and stack, in addition to sram_bytes
  bool smallest = false;              // minimize memory before cycles
  bool external_weights = false;      // constants are named data of the file, not in the payload
  VendorTools vendor;
  /// Indices of subgraph inputs that must not be overwritten: application memory, and states.
  std::vector<size_t> read_only_inputs;
  /// Pairs (input index, output index): the input holds a state, the output is its next value.
  std::vector<std::pair<size_t, size_t>> states;
};

/// Quantization of the float graph that an engine prefers.
struct QuantPreferences {
  bool linear_per_tensor = false;   // one scale for all weights of a linear
  bool narrow_softmax = false;      // int8 softmax, also at the end of the graph
  bool symmetric_products = false;  // operands of a product of activations: zero points 0
  /// Results of sigmoid and tanh have the scales 1/256 and 1/128, as with `tables`.
  bool fixed_sigmoid_scale = false;
  /// Functions that a table may compute, by the names of quant/named_function.h. Other functions
  /// are split into operators and such tables. Empty: any function.
  std::span<const std::string_view> tables{};
};

/// An accelerator that runs subgraphs of the integer graph in addition to the CPU.
struct Npu {
  std::string_view kind;  // family, without the configuration
  /// Checks the settings of the engine in a part's file; null: nothing to check.
  Status (*check)(const PartNpu& use) = nullptr;
  Legality (*legal)(const ir::Graph& graph, const ir::Op& op, const PartNpu& use) = nullptr;
  /// Image inputs and outputs of a subgraph are channels-last.
  bool channels_last = true;
  Result<Delegate> (*compile)(const ir::Graph& subgraph, const PartNpu& use,
                              const NpuOptions& options) = nullptr;
  /// Null: clock and overhead are not known.
  NpuTiming (*timing)(const PartNpu& use) = nullptr;
  /// Returns schedules from least SRAM to most; null: the engine has one schedule only.
  Result<std::vector<ParetoPoint>> (*pareto)(const ir::Graph& subgraph,
                                             const PartNpu& use) = nullptr;
  /// Returns the subgraph in the engine's own arithmetic, with the same inputs and outputs. The
  /// reference evaluator then runs the result. Null: the engine computes the integer graph exactly.
  Result<ir::Graph> (*adapt)(const ir::Graph& subgraph, const PartNpu& use) = nullptr;
  /// Returns why the subgraph must not become a delegate: unsupported, or slower than the CPU;
  /// empty if it may. Null: the partition compares the number of steps with a fixed minimum.
  std::string (*decline_reason)(const ir::Graph& subgraph, const PartNpu& use,
                                bool ignore_cost) = nullptr;
  const QuantPreferences* preferences = nullptr;  // null: none
  /// Returns the adapted subgraph with H and W of its images transposed, inputs and outputs
  /// included, if that saves more than the transposes outside cost. Null: never.
  std::optional<ir::Graph> (*transposed_hw)(const ir::Graph& subgraph,
                                            const PartNpu& use) = nullptr;
  /// Replaces a compiled delegate by the output of the vendor's tools; null: no tools exist.
  Status (*compile_with_vendor_tools)(const VendorTools& tools, Delegate& delegate) = nullptr;
  /// Backend ids of the engine's delegates that ExecuTorch's own runtime has too.
  std::span<const std::string_view> executorch_delegates{};
  /// Returns the operators that legal() accepts, with limits as text. A row whose operator is in
  /// parentheses holds for all operators. Null: no list.
  std::vector<OpSupport> (*supported)(const PartNpu& use) = nullptr;
};

/// One configuration of an NPU and its name in part files.
struct NpuName {
  std::string name;
  const Npu* engine = nullptr;
};
[[nodiscard]] const std::vector<NpuName>& all_npus();
[[nodiscard]] Result<const Npu*> find_npu(std::string_view name);

/// Returns all cores, sorted by name. No other list of cores exists.
[[nodiscard]] std::span<const Core> all_cores();
/// Finds a core by name; also accepts ExecuTorch's suffix `+int8`. An unknown name is a bad-input
/// error that suggests similar names.
[[nodiscard]] Result<const Core*> find_core(std::string_view name);

/// Returns the name of a quantity as words: "kernel height" for "kernel_height".
[[nodiscard]] std::string words_of_name(std::string_view name);

/// Returns "cortex_m::quantized_add.out", or the backend id of a delegate.
[[nodiscard]] std::string call_name(const Lowered& lowered, const KernelCall& call);
/// Returns the element types of a call: "i8", or "f32->i8" if no operand has the result's type.
[[nodiscard]] std::string call_types(const Lowered& lowered, const KernelCall& call);

}  // namespace thimble::engine
