// SPDX-License-Identifier: Apache-2.0
#include "passes/merge_linear.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "passes/uses.h"

namespace thimble::passes {
namespace {

using ir::Op;
using ir::OpKind;
using ir::Tensor;

bool has_constant_weights(const ir::Graph& graph, const Op& op) {
  return std::all_of(op.inputs.begin() + 1, op.inputs.end(), [&](ir::ValueId id) {
    return id == ir::kNoValue || graph.value(id).constant != nullptr;
  });
}

bool all_equal(const std::vector<int64_t>& values, int64_t wanted) {
  return std::ranges::all_of(values, [=](int64_t value) { return value == wanted; });
}

bool is_pointwise(const ir::Graph& graph, const Op& op) {
  if (op.kind == OpKind::linear) return true;
  const ir::Shape& w = graph.type(op.inputs[1]).shape;
  return w[2] == 1 && w[3] == 1 && op.get(ir::attr::groups) == 1 &&
         all_equal(op.get(ir::attr::padding), 0) && all_equal(op.get(ir::attr::stride), 1);
}

/// Returns the operator that reads `op` and is merged into it, or null.
const Op* second_of(const ir::Graph& graph, const Uses& uses, const Op& op) {
  if (op.kind != OpKind::linear && op.kind != OpKind::conv2d) return nullptr;
  const Op* next = uses.only_reader(op.output);
  if (next == nullptr || next->kind != op.kind || next->inputs[0] != op.output) return nullptr;
  if (!has_constant_weights(graph, op) || !has_constant_weights(graph, *next)) return nullptr;
  if (!is_pointwise(graph, *next)) return nullptr;
  if (op.kind == OpKind::conv2d && op.get(ir::attr::groups) != 1) return nullptr;
  const ir::Shape& first = graph.type(op.inputs[1]).shape;
  const int64_t row = ir::element_count(first) / first[0];  // weights of one channel between
  const int64_t between = first[0];
  const int64_t outputs = graph.type(next->inputs[1]).shape[0];
  return row * outputs < between * (row + outputs) ? next : nullptr;
}

struct Merged {
  Tensor w, b;
};
Merged merged(const ir::Graph& graph, const Op& first, const Op& second) {
  const Tensor& inner = *graph.value(first.inputs[1]).constant;
  const Tensor& outer = *graph.value(second.inputs[1]).constant;
  const auto between = static_cast<size_t>(inner.shape[0]);
  const auto outputs = static_cast<size_t>(outer.shape[0]);
  const size_t row = inner.data<float>().size() / between;
  ir::Shape shape = inner.shape;
  shape[0] = outer.shape[0];
  Merged result{ir::zeros(ir::DType::kF32, shape), ir::zeros(ir::DType::kF32, {outer.shape[0]})};
  const auto bias = [&](const Op& op, size_t channel) {
    if (op.inputs[2] == ir::kNoValue) return 0.0;
    return static_cast<double>(graph.value(op.inputs[2]).constant->data<float>()[channel]);
  };
  std::vector<double> sums(row);
  for (size_t o = 0; o < outputs; ++o) {
    std::ranges::fill(sums, 0.0);
    double sum = bias(second, o);
    for (size_t m = 0; m < between; ++m) {
      const auto weight = static_cast<double>(outer.data<float>()[o * between + m]);
      for (size_t i = 0; i < row; ++i) {
        sums[i] += weight * static_cast<double>(inner.data<float>()[m * row + i]);
      }
      sum += weight * bias(first, m);
    }
    for (size_t i = 0; i < row; ++i) {
      result.w.data<float>()[o * row + i] = static_cast<float>(sums[i]);
    }
    result.b.data<float>()[o] = static_cast<float>(sum);
  }
  return result;
}

}  // namespace

Result<ir::Graph> merge_linear(const ir::Graph& graph) {
  const Uses uses(graph);
  ir::Rewriter rewriter(graph);
  std::vector<bool> done(graph.value_count(), false);  // results of operators that were merged
  for (const Op& op : graph.ops()) {
    if (done[ir::index_of(op.output)]) continue;
    const Op* second = second_of(graph, uses, op);
    if (second == nullptr) {
      THIMBLE_CHECK(rewriter.copy(op));
      continue;
    }
    Merged product = merged(graph, op, *second);
    ir::Graph& to = rewriter.to();
    const ir::ValueId w = to.add_constant(graph.value(second->inputs[1]).name,
                                          std::make_shared<const Tensor>(std::move(product.w)));
    const ir::ValueId b = to.add_constant(graph.value(second->output).name + "_bias",
                                          std::make_shared<const Tensor>(std::move(product.b)));
    const ir::Value& result = graph.value(second->output);
    THIMBLE_TRY(const ir::ValueId id,
                to.add(op.kind, {rewriter.map(op.inputs[0]), w, b}, op.attrs, second->source,
                       {result.name, result.type.dim_order, {}}));
    rewriter.set(second->output, id);
    done[ir::index_of(second->output)] = true;
  }
  return rewriter.finish();
}

}  // namespace thimble::passes
