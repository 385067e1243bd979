// SPDX-License-Identifier: Apache-2.0
#include "passes/hoist_clamp.h"

#include <algorithm>

#include "passes/uses.h"

namespace thimble::passes {
namespace {

using ir::Op;
using ir::OpKind;

bool commutes_with_clamp(OpKind kind) {
  return kind == OpKind::max_pool2d || kind == OpKind::adaptive_max_pool2d ||
         kind == OpKind::reshape || kind == OpKind::permute || kind == OpKind::copy ||
         kind == OpKind::gather;
}

bool can_clamp(OpKind kind) {
  return kind == OpKind::conv2d || kind == OpKind::conv_transpose2d || kind == OpKind::linear ||
         kind == OpKind::add || kind == OpKind::sub || kind == OpKind::mul ||
         kind == OpKind::avg_pool2d || kind == OpKind::adaptive_avg_pool2d || kind == OpKind::mean;
}

/// Returns true if `op` is a concat and each of its operands can be clamped by its producer.
bool joins_arithmetic(const Uses& uses, const Op& op) {
  return op.kind == OpKind::concat && std::ranges::all_of(op.inputs, [&](ir::ValueId id) {
           const Op* producer = uses.producer(id);
           return producer != nullptr && can_clamp(producer->kind) &&
                  uses.only_reader(id) != nullptr;
         });
}

/// Returns the clamp that follows `op` after a concat or a chain of data movements, or null.
const Op* clamp_after(const Uses& uses, const Op& op) {
  const Op* next = uses.only_reader(op.output);
  if (next == nullptr) return nullptr;
  if (joins_arithmetic(uses, *next)) {
    next = uses.only_reader(next->output);
  } else if (!commutes_with_clamp(next->kind)) {
    return nullptr;
  }
  while (next != nullptr && commutes_with_clamp(next->kind)) next = uses.only_reader(next->output);
  return next != nullptr && next->kind == OpKind::clamp ? next : nullptr;
}

}  // namespace

Result<ir::Graph> hoist_clamp(const ir::Graph& graph) {
  const Uses uses(graph);
  ir::Rewriter rewriter(graph);
  std::vector<bool> hoisted(graph.value_count(), false);  // results of moved clamps
  for (const Op& op : graph.ops()) {
    if (hoisted[static_cast<size_t>(op.output)]) {
      // The preceding movement replaces the clamp and gets the memory order of its result.
      const ir::ValueId moved = rewriter.map(op.inputs[0]);
      rewriter.to().value(moved).type.dim_order = graph.type(op.output).dim_order;
      rewriter.set(op.output, moved);
      continue;
    }
    THIMBLE_CHECK(rewriter.copy(op));
    const Op* clamp = can_clamp(op.kind) ? clamp_after(uses, op) : nullptr;
    if (clamp == nullptr) continue;
    const ir::Value& value = graph.value(op.output);
    THIMBLE_TRY(const ir::ValueId id,
                rewriter.to().add(OpKind::clamp, {rewriter.map(op.output)}, clamp->attrs,
                                  clamp->source, {"", value.type.dim_order, {}}));
    rewriter.set(op.output, id);
    hoisted[static_cast<size_t>(clamp->output)] = true;
  }
  return rewriter.finish();
}

}  // namespace thimble::passes
