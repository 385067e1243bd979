#pragma once
// What a target is to the rest of the compiler: data and a few functions.
//
// lower() turns an integer graph into a graph that the target's kernels can run as it is (legal
// forms, memory orders chosen, copies written out) and one KernelCall per operator that does work.
// The lowered graph is still IR: the evaluator runs it, so every step of lowering is judged.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "abi/native_params.h"
#include "abi/pte_ops.h"
#include "base/result.h"
#include "ir/graph.h"

namespace thimble::target {

enum class Dialect : uint8_t { kNative, kStock };

struct Options {
  Dialect dialect = Dialect::kNative;
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
  /// Index of the argument whose memory the result may take over when that value dies here; -1 =
  /// none.
  int in_place = -1;
};

/// The graph's states are settled (target/state.h): each becomes itself, or what one call makes.
struct Lowered {
  ir::Graph graph;
  std::vector<KernelCall> calls;  // in execution order; operators without a call only rename memory
};

struct Memory {
  std::string name;
  int64_t bytes = 0;  // 0 = not known
};

struct Target;

/// What one call does, and an estimate of what it costs; no number where there is none.
struct Cost {
  int64_t steps = 0;  // of the innermost loop
  std::optional<int64_t> instructions;
};

struct Target {
  std::string_view name;    // "cortex-m55"
  std::string_view engine;  // what reports call the engine of its operators
  std::string_view summary;
  abi::Isa isa{};
  Result<Lowered> (*lower)(const ir::Graph& graph, const Target& target,
                           const Options& options) = nullptr;
  Cost (*cost)(const Lowered& lowered, const KernelCall& call, const Target& target) = nullptr;
};

/// Every target, sorted by name. The one list of concrete targets.
[[nodiscard]] std::span<const Target> all_targets();
/// Also accepts ExecuTorch's spelling with a `+int8` suffix. Unknown names are bad input, with the
/// nearest ones.
[[nodiscard]] Result<const Target*> find_target(std::string_view name);

/// True if the operator's result has exactly the bytes of its first operand: it needs no call.
[[nodiscard]] bool is_alias(const ir::Graph& graph, const ir::Op& op);

/// Element types that a call works on: "i8", or "f32->i8" where no operand has the result's.
[[nodiscard]] std::string call_types(const Lowered& lowered, const KernelCall& call);

}  // namespace thimble::target
