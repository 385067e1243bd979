// SPDX-License-Identifier: Apache-2.0
#include "engines/cortex_m/compiler/cost.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "abi/pte_ops.h"
#include "engines/cortex_m/compiler/cortex_m.h"
#include "engines/cortex_m/compiler/cost_terms.h"
#include "engines/cortex_m/compiler/linked_size.h"

namespace thimble::engine::cortex_m {
namespace {

constexpr int64_t CostTerms::*kTerms[] = {
#define THIMBLE_COST_TERM(name) &CostTerms::name,
#include "engine/cost_terms.def"
#undef THIMBLE_COST_TERM
};

struct CostFunction {
  abi::PteOp op;  // kCount: an average operator
  std::string_view core;
  /// The first one belongs to the call itself, the others to its sizes in the order of kTerms.
  /// Those that a row lacks are 0.
  std::array<double, 1 + std::size(kTerms)> coefficients;
};

constexpr CostFunction kInstructions[] = {
#define THIMBLE_COST(op, core, ...) {abi::PteOp::op, core, {__VA_ARGS__}},
#include "engines/cortex_m/compiler/costs.def"
#include "engines/cortex_m/compiler/float_costs.def"
#undef THIMBLE_COST
};
constexpr CostFunction kCycles[] = {
#define THIMBLE_CYCLES(op, core, ...) {abi::PteOp::op, core, {__VA_ARGS__}},
#define THIMBLE_RUNTIME_CYCLES(...)
#include "engines/cortex_m/compiler/cycles.def"
#undef THIMBLE_RUNTIME_CYCLES
#undef THIMBLE_CYCLES
};

/// Cost functions whose mean error over the measured calls is above kInaccuratePercent.
struct InaccurateCycles {
  abi::PteOp op;
  std::string_view core;
  int mean_error_percent;
};
constexpr InaccurateCycles kInaccurateCycles[] = {
#define THIMBLE_INACCURATE_CYCLES(op, core, percent) {abi::PteOp::op, core, percent},
#include "engines/cortex_m/compiler/inaccurate_cycles.def"
#undef THIMBLE_INACCURATE_CYCLES
};
static_assert(std::ranges::all_of(kInaccurateCycles, [](const InaccurateCycles& row) {
  return row.mean_error_percent > kInaccuratePercent;
}));

/// The largest sizes among the calls to which the cost functions of an operator are fitted, on any
/// core, in the order of kTerms. Those that a row lacks are 0.
struct MeasuredSizes {
  abi::PteOp op;
  std::array<int64_t, std::size(kTerms)> largest;
};
constexpr MeasuredSizes kMeasuredSizes[] = {
#define THIMBLE_MEASURED_SIZES(op, ...) {abi::PteOp::op, {__VA_ARGS__}},
#include "engines/cortex_m/compiler/measured_sizes.def"
#undef THIMBLE_MEASURED_SIZES
};
static_assert(std::ranges::all_of(kCycles, [](const CostFunction& row) {
  return row.op == abi::PteOp::kCount ||
         std::ranges::count(kMeasuredSizes, row.op, &MeasuredSizes::op) == 1;
}));

constexpr int64_t RuntimeTerms::*kRuntimeTerms[] = {
#define THIMBLE_RUNTIME_TERM(name) &RuntimeTerms::name,
#include "engine/runtime_terms.def"
#undef THIMBLE_RUNTIME_TERM
};

/// Cycles of the runtime outside of kernels, for calls of one form; one coefficient per row of
/// kRuntimeTerms.
struct RuntimeFunction {
  std::string_view core;
  CallForm form;
  std::array<double, std::size(kRuntimeTerms)> coefficients;
};
constexpr RuntimeFunction kRuntimeCycles[] = {
#define THIMBLE_CYCLES(...)
#define THIMBLE_RUNTIME_CYCLES(core, form, ...) {core, CallForm::form, {__VA_ARGS__}},
#include "engines/cortex_m/compiler/cycles.def"
#undef THIMBLE_RUNTIME_CYCLES
#undef THIMBLE_CYCLES
};

/// Returns a core whose instructions are a subset of those of `core` and that has the same kernel
/// variants, except those that need the missing instructions; empty if none exists. Armv6-M is
/// excluded because it has variants of its own.
std::string_view subset_core(std::string_view core) {
  if (core == "cortex-m85") return "cortex-m55";
  if (core == "cortex-m55" || core == "cortex-m7" || core == "cortex-m33") return "cortex-m4";
  return core == "cortex-m4" ? "cortex-m3" : "";
}

std::optional<double> evaluate(std::span<const CostFunction> functions, abi::PteOp op,
                               std::string_view core, const CostTerms& terms) {
  const auto function = std::ranges::find_if(
      functions, [&](const CostFunction& row) { return row.op == op && row.core == core; });
  if (function == functions.end()) return {};
  double cost = function->coefficients[0];
  for (size_t i = 0; i < std::size(kTerms); ++i) {
    cost += function->coefficients[1 + i] * static_cast<double>(terms.*kTerms[i]);
  }
  return cost;
}
std::optional<double> evaluate_or_subset(std::span<const CostFunction> functions, abi::PteOp op,
                                         std::string_view core, const CostTerms& terms) {
  for (; !core.empty(); core = subset_core(core)) {
    if (const auto found = evaluate(functions, op, core, terms)) return found;
  }
  return {};
}

/// Returns true if a size is larger than in all measured calls of the operator.
bool is_outside_of_measured(abi::PteOp op, const CostTerms& terms) {
  const auto* const row = std::ranges::find(kMeasuredSizes, op, &MeasuredSizes::op);
  for (size_t i = 0; i < std::size(kTerms); ++i) {
    if (terms.*kTerms[i] > row->largest[i]) return true;
  }
  return false;
}

/// Returns how well the cycles of a call are known from the cost function of its operator.
CycleBasis basis_of(abi::PteOp op, std::string_view core, const CostTerms& terms) {
  const auto is_measured = [&] {
    return std::ranges::any_of(
        kCycles, [&](const CostFunction& row) { return row.op == op && row.core == core; });
  };
  while (!core.empty() && !is_measured()) core = subset_core(core);
  if (core.empty()) return CycleBasis::kAverage;
  if (is_outside_of_measured(op, terms)) return CycleBasis::kInaccurate;
  const bool inaccurate = std::ranges::any_of(kInaccurateCycles, [&](const InaccurateCycles& row) {
    return row.op == op && row.core == core;
  });
  return inaccurate ? CycleBasis::kInaccurate : CycleBasis::kMeasured;
}

/// Returns the cycles per instruction of a call with these sizes: the median over all operators of
/// which both were measured on the core.
double cycles_per_instruction(std::string_view core, const CostTerms& terms) {
  std::vector<double> ratios;
  for (const CostFunction& function : kCycles) {
    if (function.core != core) continue;
    const std::optional<double> instructions = evaluate(kInstructions, function.op, core, terms);
    if (!instructions || *instructions <= 0) continue;
    ratios.push_back(*evaluate(kCycles, function.op, core, terms) / *instructions);
  }
  if (ratios.empty()) return 1;
  const auto middle = ratios.begin() + std::ssize(ratios) / 2;
  std::ranges::nth_element(ratios, middle);
  return *middle;
}

std::optional<int64_t> truncated(std::optional<double> value) {
  if (!value) return {};
  return static_cast<int64_t>(*value);
}

}  // namespace

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

std::optional<int64_t> runtime_cycles(const RuntimeWork& work, const Core& core) {
  const std::string_view name = measured_core(core.name);
  double cycles = 0;
  bool known = false;
  for (const RuntimeFunction& function : kRuntimeCycles) {
    if (function.core != name) continue;
    known = true;
    const RuntimeTerms& terms = work.of(function.form);
    for (size_t i = 0; i < std::size(kRuntimeTerms); ++i) {
      cycles += function.coefficients[i] * static_cast<double>(terms.*kRuntimeTerms[i]);
    }
  }
  if (!known) return {};
  return truncated(cycles);
}

Cost cost_of(const Lowered& lowered, const KernelCall& call, const Core& core) {
  const ir::Op& op = lowered.graph.ops()[static_cast<size_t>(call.ir_op)];
  const std::string_view name = measured_core(core.name);
  Cost cost;
  cost.terms = terms_of(lowered.graph, op, call);
  cost.instructions = truncated(evaluate_or_subset(kInstructions, call.op, name, cost.terms));
  std::optional<double> cycles = evaluate_or_subset(kCycles, call.op, name, cost.terms);
  cost.cycle_basis = basis_of(call.op, name, cost.terms);
  if (!cycles && cost.instructions) {
    cycles = static_cast<double>(*cost.instructions) * cycles_per_instruction(name, cost.terms);
    cost.cycle_basis = CycleBasis::kInstructions;
  }
  if (!cycles) cycles = evaluate(kCycles, abi::PteOp::kCount, name, cost.terms);
  cost.cycles = truncated(cycles);
  return cost;
}

}  // namespace thimble::engine::cortex_m
