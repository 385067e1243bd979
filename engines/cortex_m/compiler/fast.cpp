// SPDX-License-Identifier: Apache-2.0
#include "engines/cortex_m/compiler/fast.h"

#include "abi/pte_ops.h"
#include "engines/cortex_m/compiler/cost.h"
#include "ir/weight_bits.h"

namespace thimble::engine::cortex_m {
namespace {

struct Row {
  std::optional<abi::Isa> isa;  // no value: any
  ir::OpKind kind;
  PackFunction* form;
};

// The array ends with an empty row because fast.def may have no rows.
constexpr Row kRows[] = {
#define THIMBLE_FAST(isa, kind, function) {abi::Isa::isa, ir::OpKind::kind, function},
#define THIMBLE_FAST_ANY(kind, function) {{}, ir::OpKind::kind, function},
#include "engines/cortex_m/compiler/fast.def"
#undef THIMBLE_FAST
#undef THIMBLE_FAST_ANY
    {abi::Isa::kThumb2, ir::OpKind::copy, nullptr},
};

bool stores_4_bits(const KernelCall& call) {
  return abi::weight_bits(abi::info(call.op).key) == 4;
}

}  // namespace

std::vector<KernelCall> fast_calls(const ir::Graph& graph, const ir::Op& op, const Core& target) {
  std::vector<KernelCall> calls;
  std::optional<double> best_cost;  // cost of the first call
  const bool int4 = ir::has_int4_weights(op);
  for (const Row& row : kRows) {
    const bool is_for = row.isa.value_or(target.isa) == target.isa && row.kind == op.kind;
    if (row.form == nullptr || !is_for) continue;
    std::optional<KernelCall> call = row.form(graph, op);
    if (!call) continue;
    const std::optional<double> cost = estimate(graph, op, *call, target);
    calls.push_back(std::move(*call));
    // Weights of 4 bits are stored in 4 bits, also if a kernel with 8 bits takes fewer
    // instructions.
    const bool first_is_4_bits = int4 && stores_4_bits(calls.front());
    const bool this_is_4_bits = int4 && stores_4_bits(calls.back());
    if (first_is_4_bits && !this_is_4_bits) continue;
    const bool fewer = cost && best_cost && *cost < *best_cost;
    if (calls.size() > 1 && first_is_4_bits == this_is_4_bits && !fewer) continue;
    std::swap(calls.front(), calls.back());
    best_cost = cost;
  }
  return calls;
}

}  // namespace thimble::engine::cortex_m
