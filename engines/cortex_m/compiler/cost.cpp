#include "engines/cortex_m/compiler/cost.h"

#include <algorithm>

#include "abi/pte_ops.h"
#include "ir/op_cost.h"

namespace thimble::engine::cortex_m {
namespace {

struct Law {
  abi::PteOp op;
  std::string_view core;
  double call, element, step;
};

constexpr Law kLaws[] = {
#define THIMBLE_COST(op, core, call, element, step) {abi::PteOp::op, core, call, element, step},
#include "engines/cortex_m/compiler/costs.def"
#undef THIMBLE_COST
};

struct Code {
  abi::PteOp op;
  std::string_view core;
  int64_t bytes;
};

constexpr Code kCodes[] = {
#define THIMBLE_CODE(op, core, bytes) {abi::PteOp::op, core, bytes},
#include "engines/cortex_m/compiler/code.def"
#undef THIMBLE_CODE
};

/// Returns the core whose counts are used for `target`: one with the same instructions, or fewer.
std::string_view measured_core(std::string_view target) {
  if (target == "cortex-m0" || target == "cortex-m23") return "cortex-m0plus";
  if (target == "cortex-m7" || target == "cortex-m33" || target == "cortex-m35p") {
    return "cortex-m4";
  }
  return target == "cortex-m85" ? "cortex-m55" : target;
}

/// Returns a core whose instructions are a subset of those of `core` and that has the same kernel
/// variants, except those that need the missing instructions; empty if none exists. Armv6-M is
/// excluded because it has variants of its own.
std::string_view subset_core(std::string_view core) {
  if (core == "cortex-m55") return "cortex-m4";
  return core == "cortex-m4" ? "cortex-m3" : "";
}

std::optional<double> estimate_on(const ir::Graph& graph, const ir::Op& op, abi::PteOp kernel,
                                  std::string_view core) {
  const auto* const law = std::ranges::find_if(
      kLaws, [&](const Law& row) { return row.op == kernel && row.core == core; });
  if (law == std::end(kLaws)) return {};
  const auto elements = static_cast<double>(graph.type(op.output).elements());
  const auto steps = static_cast<double>(steps_of(graph, op));
  return law->call + law->element * elements + law->step * steps;
}

}  // namespace

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
  if (pixels == 1 || is_depthwise) return {};
  const int64_t windows = graph.type(op.output).elements() / weights[0];
  return {windows * pixels * weights[1], windows * weights[2]};
}

std::optional<double> estimate(const ir::Graph& graph, const ir::Op& op, abi::PteOp kernel,
                               const Core& target) {
  return estimate_on(graph, op, kernel, measured_core(target.name));
}

std::optional<double> estimate_or_subset(const ir::Graph& graph, const ir::Op& op,
                                         abi::PteOp kernel, const Core& target) {
  std::string_view core = measured_core(target.name);
  for (; !core.empty(); core = subset_core(core)) {
    if (const auto found = estimate_on(graph, op, kernel, core)) return found;
  }
  return {};
}

std::optional<int64_t> code_bytes(abi::PteOp kernel, const Core& target) {
  const std::string_view core = measured_core(target.name);
  const auto* const found = std::ranges::find_if(
      kCodes, [&](const Code& row) { return row.op == kernel && row.core == core; });
  if (found == std::end(kCodes)) return {};
  return found->bytes;
}

std::optional<int64_t> instructions(const Lowered& lowered, const KernelCall& call,
                                    const Core& target) {
  const ir::Op& op = lowered.graph.ops()[static_cast<size_t>(call.ir_op)];
  const std::optional<double> counted = estimate_or_subset(lowered.graph, op, call.op, target);
  if (!counted) return {};
  return static_cast<int64_t>(*counted);
}

}  // namespace thimble::engine::cortex_m
