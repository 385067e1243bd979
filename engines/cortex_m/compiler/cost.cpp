#include "engines/cortex_m/compiler/cost.h"

#include <algorithm>
#include <cstring>

#include "abi/ops/movement.h"
#include "abi/packed_ops.h"
#include "abi/pte_ops.h"
#include "engines/cortex_m/compiler/linked_size.h"
#include "ir/op_cost.h"

namespace thimble::engine::cortex_m {
namespace {

/// Coefficients of the sizes of a call, in the order of engine::CostTerms after the call itself.
struct Law {
  abi::PteOp op;  // kCount: an average operator
  std::string_view core;
  double call, element, step, gathered, copied_row, tap, wide_step;
};

constexpr Law kInstructions[] = {
#define THIMBLE_COST(op, core, ...) {abi::PteOp::op, core, __VA_ARGS__},
#include "engines/cortex_m/compiler/costs.def"
#undef THIMBLE_COST
};
constexpr Law kCycles[] = {
#define THIMBLE_CYCLES(op, core, ...) {abi::PteOp::op, core, __VA_ARGS__},
#include "engines/cortex_m/compiler/cycles.def"
#undef THIMBLE_CYCLES
};

/// Returns the core whose measurements are used for `core`: one that executes the same image.
std::string_view measured_core(std::string_view core) {
  if (core == "cortex-m0" || core == "cortex-m23") return "cortex-m0plus";
  return core == "cortex-m35p" ? "cortex-m33" : core;
}

/// Returns a core whose instructions are a subset of those of `core` and that has the same kernel
/// variants, except those that need the missing instructions; empty if none exists. Armv6-M is
/// excluded because it has variants of its own.
std::string_view subset_core(std::string_view core) {
  if (core == "cortex-m85") return "cortex-m55";
  if (core == "cortex-m55" || core == "cortex-m7" || core == "cortex-m33") return "cortex-m4";
  return core == "cortex-m4" ? "cortex-m3" : "";
}

std::optional<double> evaluate(std::span<const Law> laws, abi::PteOp op, std::string_view core,
                               const CostTerms& terms) {
  const auto law =
      std::ranges::find_if(laws, [&](const Law& row) { return row.op == op && row.core == core; });
  if (law == laws.end()) return {};
  const auto part = [](double coefficient, int64_t size) {
    return coefficient * static_cast<double>(size);
  };
  return law->call + part(law->element, terms.elements) + part(law->step, terms.steps) +
         part(law->gathered, terms.gathered) + part(law->copied_row, terms.copied_rows) +
         part(law->tap, terms.taps) + part(law->wide_step, terms.wide_steps);
}
std::optional<double> evaluate_or_subset(std::span<const Law> laws, abi::PteOp op,
                                         std::string_view core, const CostTerms& terms) {
  for (; !core.empty(); core = subset_core(core)) {
    if (const auto found = evaluate(laws, op, core, terms)) return found;
  }
  return {};
}

/// The windows of a convolution; zeros for other operators.
struct Windows {
  int64_t elements = 0;  // of all windows, if they have several pixels and are not of one channel
  int64_t rows = 0;      // of the same windows
  int64_t taps = 0;      // result elements times pixels of the window
};

int64_t steps_of(const ir::Graph& graph, const ir::Op& op) {
  const ir::Type& y = graph.type(op.output);
  if (ir::category_of(op.kind) == ir::OpCategory::kPool) {
    const auto& kernel = op.get(ir::attr::kernel);
    return y.elements() * kernel[0] * kernel[1];
  }
  const int64_t macs = ir::macs_of(graph, op);
  return macs != 0 ? macs : std::max(graph.type(op.inputs[0]).elements(), y.elements());
}

Windows windows_of(const ir::Graph& graph, const ir::Op& op) {
  if (ir::category_of(op.kind) != ir::OpCategory::kConv) return {};
  const ir::Shape& weights = graph.type(op.inputs[1]).shape;  // out, in, height, width
  const int64_t pixels = graph.type(op.inputs[1]).elements() / weights[0] / weights[1];
  const bool is_depthwise = weights[1] == 1 && graph.type(op.inputs[0]).shape[1] > 1;
  const int64_t elements = graph.type(op.output).elements();
  if (pixels == 1 || is_depthwise) return {0, 0, elements * pixels};
  const int64_t windows = elements / weights[0];
  return {windows * pixels * weights[1], windows * weights[2], elements * pixels};
}

/// Returns how many runs of contiguous bytes a call copies; 0 for all calls but moves and
/// concatenations.
int64_t copied_runs(const KernelCall& call) {
  if (call.arguments.empty()) return 0;
  const auto* const packed = std::get_if<Constant>(&call.arguments.back());
  if (packed == nullptr) return 0;
  // The call may be one of a file whose constant is too short: its parameters are zeros.
  const auto read = [&]<typename Params>(Params params) {
    if (packed->bytes->size() < sizeof params) return Params{};
    std::memcpy(&params, packed->bytes->data(), sizeof params);
    return params;
  };
  switch (call.op) {
    case abi::PteOp::thimble_move: {
      const auto move = read(abi::ParamsOf<abi::op_info::thimble_move>{});
      int64_t runs = 1;
      for (uint32_t axis = 0; axis + 1 < abi::LoopNest::kAxes; ++axis) {
        runs *= move.nest.extent[axis];
      }
      return runs;
    }
    case abi::PteOp::thimble_concat2:
    case abi::PteOp::thimble_concat3:
    case abi::PteOp::thimble_concat4: {
      const auto concat = read(abi::ParamsOf<abi::op_info::thimble_concat2>{});
      return int64_t{concat.outer} * static_cast<int64_t>(call.arguments.size() - 1);
    }
    default:
      return 0;
  }
}

/// Returns true for 16-bit operands of a kernel that also has an int8 form: its steps differ.
bool has_wide_steps(const ir::Graph& graph, const ir::Op& op, abi::PteOp kernel) {
  constexpr auto kAnyType = static_cast<uint8_t>(abi::OpType::kAny);
  return (abi::info(kernel).key.types & 15) == kAnyType &&
         ir::dtype_bytes(graph.type(op.inputs[0]).dtype) == 2;
}

std::optional<int64_t> truncated(std::optional<double> value) {
  if (!value) return {};
  return static_cast<int64_t>(*value);
}

}  // namespace

CostTerms terms_of(const ir::Graph& graph, const ir::Op& op, const KernelCall& call) {
  const Windows windows = windows_of(graph, op);
  const int64_t steps = steps_of(graph, op);
  return {graph.type(op.output).elements(),
          steps,
          windows.elements,
          windows.rows + copied_runs(call),
          windows.taps,
          has_wide_steps(graph, op, call.op) ? steps : 0};
}

std::optional<double> estimate(const ir::Graph& graph, const ir::Op& op, const KernelCall& call,
                               const Core& core) {
  return evaluate(kInstructions, call.op, measured_core(core.name), terms_of(graph, op, call));
}

std::optional<double> estimate_or_subset(const ir::Graph& graph, const ir::Op& op,
                                         const KernelCall& call, const Core& core) {
  return evaluate_or_subset(kInstructions, call.op, measured_core(core.name),
                            terms_of(graph, op, call));
}

std::optional<int64_t> code_bytes(abi::PteOp kernel, const Core& core) {
  LinkRequest request;
  const auto without = linked_code(request, core);
  request.kernels = {kernel};
  const auto with = linked_code(request, core);
  if (!with || !without) return {};
  return with->flash_bytes - without->flash_bytes;
}

Cost cost_of(const Lowered& lowered, const KernelCall& call, const Core& core) {
  const ir::Op& op = lowered.graph.ops()[static_cast<size_t>(call.ir_op)];
  const std::string_view name = measured_core(core.name);
  Cost cost;
  cost.terms = terms_of(lowered.graph, op, call);
  cost.instructions = truncated(evaluate_or_subset(kInstructions, call.op, name, cost.terms));
  std::optional<double> cycles = evaluate_or_subset(kCycles, call.op, name, cost.terms);
  cost.measured = cycles.has_value();
  if (!cycles) cycles = evaluate(kCycles, abi::PteOp::kCount, name, cost.terms);
  cost.cycles = truncated(cycles);
  return cost;
}

}  // namespace thimble::engine::cortex_m
