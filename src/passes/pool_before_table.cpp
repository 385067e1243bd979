// SPDX-License-Identifier: Apache-2.0
#include "passes/pool_before_table.h"

#include <algorithm>

#include "passes/uses.h"

namespace thimble::passes {
namespace {

using ir::Op;
using ir::OpKind;

/// Returns the max pool that is the only reader of a table that does not decrease; else null.
const Op* pool_after(const ir::Graph& graph, const Uses& uses, const Op& op) {
  if (op.kind != OpKind::lut || graph.value(op.inputs[1]).constant == nullptr) return nullptr;
  const Op* pool = uses.only_reader(op.output);
  if (pool == nullptr) return nullptr;
  if (pool->kind != OpKind::max_pool2d && pool->kind != OpKind::adaptive_max_pool2d) return nullptr;
  if (graph.type(pool->output).elements() >= graph.type(op.output).elements()) return nullptr;
  const auto table = graph.value(op.inputs[1]).constant->data<int8_t>();
  return std::ranges::is_sorted(table) ? pool : nullptr;
}

}  // namespace

Result<ir::Graph> pool_before_table(const ir::Graph& graph) {
  const Uses uses(graph);
  ir::Rewriter rewriter(graph);
  std::vector<bool> moved(graph.value_count(), false);  // results of pools that became tables
  for (const Op& op : graph.ops()) {
    if (moved[ir::index_of(op.output)]) continue;
    const Op* pool = pool_after(graph, uses, op);
    if (pool == nullptr) {
      THIMBLE_CHECK(rewriter.copy(op));
      continue;
    }
    const ir::Value& result = graph.value(pool->output);
    THIMBLE_TRY(const ir::ValueId pooled,
                rewriter.to().add(pool->kind, {rewriter.map(op.inputs[0])}, pool->attrs,
                                  pool->source, {"", result.type.dim_order, {}}));
    THIMBLE_TRY(
        const ir::ValueId looked_up,
        rewriter.to().add(OpKind::lut, {pooled, rewriter.map(op.inputs[1])}, op.attrs, op.source,
                          {result.name, result.type.dim_order, result.type.quant}));
    rewriter.set(pool->output, looked_up);
    moved[ir::index_of(pool->output)] = true;
  }
  return rewriter.finish();
}

}  // namespace thimble::passes
