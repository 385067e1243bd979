#pragma once
// What a target is to the rest of the compiler: data and a few functions.
//
// lower() turns an integer graph into a graph that the target's kernels can run as it is (legal
// forms, memory orders chosen, copies written out) and one KernelCall per operator that does work.
// The lowered graph is still IR: the evaluator runs it, so every step of lowering is judged.

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

#include "abi/native_params.h"
#include "abi/pte_ops.h"
#include "base/result.h"
#include "ir/graph.h"

namespace thimble::engine {

enum class Dialect : uint8_t { kNative, kStock };

/// What comes first where a kernel has several forms; docs/memory.md says what each gives up for
/// it.
enum class Optimize : uint8_t { kSpeed, kSize, kFlash };
inline constexpr Optimize kOptimizes[] = {Optimize::kSpeed, Optimize::kSize, Optimize::kFlash};
[[nodiscard]] std::string_view optimize_name(Optimize optimize);  // "speed", ...

struct Options {
  Dialect dialect = Dialect::kNative;
  bool owns_inputs = false;  // Lowered::owns_inputs
  Optimize optimize = Optimize::kSpeed;
  /// With kSize: operators of the lowered graph whose call shall have the least scratch.
  std::vector<int> lean{};
};

/// A constant of the program as its bytes lie in the file.
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
/// Memory that only this call uses, live during the call.
struct Scratch {
  int64_t bytes;
};
using Integers = std::vector<int64_t>;
using ValueList = std::vector<ir::ValueId>;
/// One argument of pte_ops.def, in order: T/t/R take ValueRef, Constant, None, Scratch, ValueList.
using Argument =
    std::variant<ValueRef, Constant, None, Scratch, int64_t, bool, double, Integers, ValueList>;

struct KernelCall {
  abi::PteOp op{};
  std::vector<Argument> arguments;  // without the out tensor
  ir::ValueId out = ir::kNoValue;
  int ir_op = -1;  // index into the lowered graph's operators
  /// Of a region's call: which one, and its further results; `op` means nothing then.
  int delegate = -1;
  ValueList more_out;
  /// Index of the argument whose memory the result may take over when that value dies here; -1 =
  /// none.
  int in_place = -1;
  /// The result may lie over argument 0, which then dies here, if it begins at least so many bytes
  /// before it; none: it may not.
  std::optional<int64_t> lead;
};

/// Where a delegate wants an input or output in its scratch memory.
struct DelegateIo {
  int64_t offset = 0;
  int64_t bytes = 0;
};

/// What one operator of a region became on its engine.
struct DelegateRow {
  int ir_op = -1;                 // of the region's graph
  std::string what;               // "CONV 3x3 s1"
  std::optional<int64_t> cycles;  // an estimate
  std::string reason;             // what the user may want to know
};

/// A file that belongs to a compiled model beside the `.pte`.
struct GeneratedFile {
  std::string name;
  std::string text;
};

/// A region as its engine takes it.
struct Delegate {
  std::string engine;  // "ethos-u55-128"
  std::string id;      // "EthosUBackend": how the file names who runs it
  std::vector<std::byte> payload;
  abi::MemoryMode memory_mode = abi::MemoryMode::kUnknown;
  std::vector<std::pair<std::string, std::vector<std::byte>>> named;  // what the payload names
  std::vector<std::pair<std::string, std::string>> specs;             // of the file's compile specs
  int64_t constant_bytes = 0;                                         // weights in the payload
  int64_t scratch_bytes = 0, fast_scratch_bytes = 0;
  int64_t kept_bytes = 0;            // memory of its own in the arena, from the start to the end
  std::vector<GeneratedFile> files;  // for the firmware's build
  std::vector<std::byte> exchange;   // the region in the form the vendor's tools read: LiteRT
  std::string no_exchange;           // why there is none, where the engine's vendor has tools
  std::vector<DelegateIo> inputs, outputs;
  std::vector<DelegateRow> rows;
  std::optional<int64_t> cycles;  // an estimate
  double call_us = 0;             // what one call costs beside them, if that is known
  double clock_mhz = 0;           // of the engine; 0: not known
  std::string note;               // what everybody who compiles for it has to know
};

/// The graph's states are settled (target/state.h): each becomes itself, or what one call makes.
struct Lowered {
  ir::Graph graph;
  std::vector<KernelCall> calls;  // in execution order; operators without a call only rename memory
  std::vector<Delegate> delegates;  // what KernelCall::delegate counts; empty until compiled
  /// Inputs lie in the arena, where a run may overwrite them. Else the caller has them.
  bool owns_inputs = false;
};

struct Memory {
  std::string name;
  int64_t bytes = 0;  // 0 = not known
};

struct Core;

/// What one call does, and an estimate of what it costs; no number where there is none.
struct Cost {
  int64_t steps = 0;  // of the innermost loop
  std::optional<int64_t> instructions;
};

struct Core {
  std::string_view name;    // "cortex-m55"
  std::string_view engine;  // what reports call the engine of its operators
  std::string_view summary;
  abi::Isa isa{};
  Result<Lowered> (*lower)(const ir::Graph& graph, const Core& target,
                           const Options& options) = nullptr;
  Cost (*cost)(const Lowered& lowered, const KernelCall& call, const Core& target) = nullptr;
};

/// Yes, or a reason that can be printed behind the operator.
struct Verdict {
  bool legal = false;
  std::string reason;
};

/// A number of a part's file, by its dotted name: "axi0.read_latency".
using Settings = std::map<std::string, double, std::less<>>;

/// An operator that an engine takes, for a list that users read.
struct OpSupport {
  std::string op;      // of the integer graph: "qconv2d"
  std::string limits;  // "int8, at most 4096 channels"
};

struct Npu;

/// An engine as a part has it.
struct PartNpu {
  const Npu* engine = nullptr;
  std::string name;         // "ethos-u55-128"
  std::string memory_mode;  // "Shared_Sram"; empty: the engine's usual one
  std::string system;       // a system around it that the engine knows by name; empty: the usual
  Settings settings;        // numbers that differ from that system's
};

/// Tools of an engine's vendor that the user has, and what they shall make.
struct VendorTools {
  std::string form;              // "program", "header", "sdk"; empty: nothing
  std::filesystem::path folder;  // of the tools; empty: not given
  std::filesystem::path helper;  // the program of ours that calls them
  std::chrono::seconds time_limit{300};
  std::string model;              // what the user calls the model
  std::string flags;              // more options of the vendor's tool, as they are
  bool prefetch = false;          // constants are fetched to SRAM while the engine runs
  bool kernel_selection = false;  // a list of the firmware's kernels that the model needs
};

struct NpuOptions {
  std::optional<int64_t> sram_bytes;  // the region's scratch may take this much
  bool smallest = false;              // memory before speed
  bool weights_apart = false;         // constants as data of the file that the payload names
  VendorTools vendor;
  /// The region's inputs whose memory no call may overwrite: the caller's, and states.
  std::vector<size_t> kept_inputs;
  /// The region's inputs that hold a state, each with the output that it becomes.
  std::vector<std::pair<size_t, size_t>> states;
};

/// How an engine would have the float graph quantized.
struct QuantPreferences {
  bool linear_per_tensor = false;   // one scale for all weights of a linear
  bool narrow_softmax = false;      // int8 even at the end
  bool symmetric_products = false;  // operands of a product of activations: zero points 0
  /// What a table may hold where a few operators do as well: names of quant/named_function.h.
  /// Empty: anything.
  std::span<const std::string_view> tables{};
};

/// A schedule of a region: none of a list is worse than another in both numbers.
struct ParetoPoint {
  int64_t sram_bytes = 0;
  int64_t cycles = 0;
};

/// A unit beside the CPU that runs regions of the integer graph.
struct Npu {
  std::string_view kind;  // "ethos-u"
  /// What a part's file says of the engine makes sense; null: nothing can be wrong.
  Status (*check)(const PartNpu& use) = nullptr;
  Verdict (*legal)(const ir::Graph& graph, const ir::Op& op, const PartNpu& use) = nullptr;
  /// Images of a region's inputs and outputs lie channels last.
  bool channels_last = true;
  Result<Delegate> (*compile)(const ir::Graph& region, const PartNpu& use,
                              const NpuOptions& options) = nullptr;
  /// From least SRAM to most; null: the engine has one schedule only.
  Result<std::vector<ParetoPoint>> (*pareto)(const ir::Graph& region,
                                             const PartNpu& use) = nullptr;
  /// The region in the engine's own arithmetic, with the same inputs and outputs: what the
  /// evaluator then judges. Null: the integer graph's is the engine's.
  Result<ir::Graph> (*adapt)(const ir::Graph& region, const PartNpu& use) = nullptr;
  /// Why the region is not worth a call, or cannot be one; empty: it is. Null: the partition
  /// judges.
  std::string (*declines)(const ir::Graph& region, const PartNpu& use,
                          bool whatever_it_costs) = nullptr;
  const QuantPreferences* preferences = nullptr;  // null: none
  /// The adapted region with height and width of its pictures exchanged, inputs and outputs
  /// included, if that saves more than exchanging those outside costs. Null: never.
  std::optional<ir::Graph> (*turned)(const ir::Graph& region, const PartNpu& use) = nullptr;
  /// What the vendor's tools make of a compiled region, in its place; null: there are none.
  Status (*finish)(const VendorTools& tools, Delegate& delegate) = nullptr;
  /// What legal() says yes to, in words; in brackets what holds for all operators. Null: not told.
  std::vector<OpSupport> (*supported)(const PartNpu& use) = nullptr;
};

/// A row per engine and configuration: "ethos-u55-128".
struct NpuName {
  std::string name;
  const Npu* engine = nullptr;
};
[[nodiscard]] const std::vector<NpuName>& all_npus();
[[nodiscard]] Result<const Npu*> find_npu(std::string_view name);

/// Every target, sorted by name. The one list of concrete targets.
[[nodiscard]] std::span<const Core> all_cores();
/// Also accepts ExecuTorch's spelling with a `+int8` suffix. Unknown names are bad input, with the
/// nearest ones.
[[nodiscard]] Result<const Core*> find_core(std::string_view name);

/// True if the operator's result has exactly the bytes of its first operand: it needs no call.
[[nodiscard]] bool is_alias(const ir::Graph& graph, const ir::Op& op);

/// "cortex_m::quantized_add.out", or the backend of a delegate.
[[nodiscard]] std::string call_name(const Lowered& lowered, const KernelCall& call);
/// Element types that a call works on: "i8", or "f32->i8" where no operand has the result's.
[[nodiscard]] std::string call_types(const Lowered& lowered, const KernelCall& call);

}  // namespace thimble::engine
