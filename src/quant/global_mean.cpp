// SPDX-License-Identifier: Apache-2.0
#include "quant/global_mean.h"

#include "passes/uses.h"

#include <algorithm>

namespace thimble::quant {
namespace {

using ir::Op;
using ir::OpKind;

bool covers_image(const ir::Graph& graph, const Op& op) {
  const ir::Shape& in = graph.type(op.inputs[0]).shape;
  const ir::Shape& out = graph.type(op.output).shape;
  if (out[2] != 1 || out[3] != 1 || in[2] * in[3] == 1) return false;
  if (op.kind == OpKind::adaptive_avg_pool2d) return true;
  if (op.kind != OpKind::avg_pool2d) return false;
  const auto& padding = op.get(ir::attr::padding);
  return op.get(ir::attr::kernel) == std::vector<int64_t>{in[2], in[3]} &&
         std::ranges::all_of(padding, [](int64_t side) { return side == 0; });
}

/// Returns true if a dequantize node gives the operand and a quantize node reads the result,
/// perhaps after reshapes, with different parameters.
bool requantizes(const passes::Uses& uses, const Op& op) {
  const Op* const before = uses.producer(op.inputs[0]);
  const Op* after = uses.only_reader(op.output);
  while (after != nullptr && after->kind == OpKind::reshape) {
    after = uses.only_reader(after->output);
  }
  if (before == nullptr || before->kind != OpKind::dequantize) return false;
  if (after == nullptr || after->kind != OpKind::quantize) return false;
  return before->get(ir::attr::scale) != after->get(ir::attr::scale) ||
         before->get(ir::attr::zero_point) != after->get(ir::attr::zero_point);
}

}  // namespace

Result<ir::Graph> pools_to_means(const ir::Graph& graph, bool only_requantized) {
  const passes::Uses uses(graph);
  ir::Rewriter rewriter(graph);
  for (const Op& op : graph.ops()) {
    const bool pools = op.kind == OpKind::avg_pool2d || op.kind == OpKind::adaptive_avg_pool2d;
    const bool kept = only_requantized && !requantizes(uses, op);
    if (!pools || kept || !covers_image(graph, op)) {
      THIMBLE_CHECK(rewriter.copy(op));
      continue;
    }
    const ir::Value& result = graph.value(op.output);
    const ir::Attrs attrs{{ir::attr::dims, std::vector<int64_t>{2, 3}},
                          {ir::attr::keepdim, int64_t{1}}};
    THIMBLE_TRY(const ir::ValueId mean,
                rewriter.to().add(OpKind::mean, {rewriter.map(op.inputs[0])}, attrs, op.source,
                                  {result.name, result.type.dim_order, {}}));
    rewriter.set(op.output, mean);
  }
  return rewriter.finish();
}

}  // namespace thimble::quant
