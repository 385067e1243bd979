// SPDX-License-Identifier: Apache-2.0
#include "engines/cortex_m/compiler/product_operands.h"

#include <numeric>

namespace thimble::engine::cortex_m {
namespace {

using ir::Op;
using ir::OpKind;

/// Fewer rows save less than the transposition costs, or hardly more.
constexpr int64_t kRowsMin = 4;
/// The kernel computes fewer columns one value at a time.
constexpr int64_t kColumnsMin = 4;

bool needs_transposition(const ir::Graph& graph, const Op& op) {
  if (op.kind != OpKind::qmatmul || op.get(ir::attr::transpose_b)) return false;
  if (graph.value(op.inputs[1]).constant != nullptr) return false;
  const ir::Shape& y = graph.type(op.output).shape;
  return y[y.size() - 2] >= kRowsMin && y.back() >= kColumnsMin;
}

}  // namespace

Result<ir::Graph> transpose_products(const ir::Graph& graph) {
  ir::Rewriter rewriter(graph);
  for (const Op& op : graph.ops()) {
    if (!needs_transposition(graph, op)) {
      THIMBLE_CHECK(rewriter.copy(op));
      continue;
    }
    const ir::Value& b = graph.value(op.inputs[1]);
    std::vector<int64_t> dims(b.type.shape.size());
    std::iota(dims.begin(), dims.end(), int64_t{0});
    std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
    ir::Graph& to = rewriter.to();
    THIMBLE_TRY(const ir::ValueId transposed,
                to.add(OpKind::permute, {rewriter.map(op.inputs[1])}, {{ir::attr::dims, dims}},
                       op.source, {"", {}, b.type.quant}));
    ir::Attrs attrs = op.attrs;
    attrs.set(ir::attr::transpose_b, true);
    const ir::Value& y = graph.value(op.output);
    THIMBLE_TRY(const ir::ValueId product,
                to.add(op.kind, {rewriter.map(op.inputs[0]), transposed}, std::move(attrs),
                       op.source, {y.name, y.type.dim_order, y.type.quant}));
    rewriter.set(op.output, product);
  }
  return rewriter.finish();
}

}  // namespace thimble::engine::cortex_m
