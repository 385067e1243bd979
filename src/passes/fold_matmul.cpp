// SPDX-License-Identifier: Apache-2.0
#include "passes/fold_matmul.h"

#include <cmath>
#include <map>
#include <numeric>

#include "passes/uses.h"

namespace thimble::passes {
namespace {

using ir::Graph;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

/// A mul by one positive number: its other operand and the factor.
struct Scaling {
  ValueId x = ir::kNoValue;
  double factor = 1;
};

Scaling scaling_of(const Graph& graph, const Op& op) {
  if (op.kind != OpKind::mul) return {};
  for (const size_t side : {size_t{0}, size_t{1}}) {
    const auto& constant = graph.value(op.inputs[side]).constant;
    const ValueId x = op.inputs[1 - side];
    if (constant == nullptr || constant->data<float>().size() != 1) continue;
    const double factor = static_cast<double>(constant->data<float>()[0]);
    const bool usable = std::isfinite(factor) && factor > 0;
    if (usable && graph.type(x).shape == graph.type(op.output).shape) return {x, factor};
  }
  return {};
}

class Folder {
 public:
  explicit Folder(const Graph& graph)
      : graph_(graph), uses_(graph), rewriter_(graph), folded_(graph.value_count(), false) {}

  Result<Graph> run() {
    for (const Op& op : graph_.ops()) {
      if (op.kind == OpKind::matmul) plan(op);
    }
    for (const Op& op : graph_.ops()) THIMBLE_CHECK(rewrite(op));
    return rewriter_.finish();
  }

 private:
  /// Finds the scalings that are folded into this matmul.
  void plan(const Op& op) {
    double scale = op.get(ir::attr::scale);
    for (const ValueId operand : op.inputs) scale *= fold_scalings_before(operand);
    const Op* next = uses_.only_reader(op.output);
    while (next != nullptr) {
      const Scaling scaling = scaling_of(graph_, *next);
      if (scaling.x == ir::kNoValue) break;
      scale *= scaling.factor;
      folded_[static_cast<size_t>(next->output)] = true;
      next = uses_.only_reader(next->output);
    }
    scale_[op.output] = scale;
  }

  /// Marks the scalings before an operand as removed and returns the product of their factors.
  /// Data movement between them is skipped.
  double fold_scalings_before(ValueId id) {
    double factor = 1;
    for (;;) {
      const Op* producer = uses_.producer(id);
      if (producer == nullptr || uses_.only_reader(id) == nullptr) return factor;
      const Scaling scaling = scaling_of(graph_, *producer);
      if (scaling.x != ir::kNoValue && !folded_[static_cast<size_t>(id)]) {
        folded_[static_cast<size_t>(id)] = true;
        factor *= scaling.factor;
        id = scaling.x;
      } else if (ir::category_of(producer->kind) == ir::OpCategory::kView) {
        id = producer->inputs[0];
      } else {
        return factor;
      }
    }
  }

  /// Returns the operand of a permute that only swaps the last two dimensions and has one reader.
  [[nodiscard]] ValueId before_transpose(ValueId id) const {
    const Op* producer = uses_.producer(id);
    if (producer == nullptr || producer->kind != OpKind::permute) return ir::kNoValue;
    if (uses_.only_reader(id) == nullptr) return ir::kNoValue;
    const auto& dims = producer->get(ir::attr::dims);
    std::vector<int64_t> exchanged(dims.size());
    std::iota(exchanged.begin(), exchanged.end(), 0);
    std::swap(exchanged[dims.size() - 1], exchanged[dims.size() - 2]);
    return dims == exchanged ? producer->inputs[0] : ir::kNoValue;
  }

  Status rewrite(const Op& op) {
    if (folded_[static_cast<size_t>(op.output)]) {
      rewriter_.set(op.output, rewriter_.map(scaled_value(op)));
      return ok();
    }
    if (op.kind != OpKind::matmul) return rewriter_.copy(op);
    ir::Attrs attrs = op.attrs;
    attrs.set(ir::attr::scale, scale_.at(op.output));
    ValueId b = op.inputs[1];
    if (const ValueId before = before_transpose(b); before != ir::kNoValue) {
      attrs.set(ir::attr::transpose_b, int64_t{1 - op.get(ir::attr::transpose_b)});
      b = before;
    }
    const ir::Value& old = graph_.value(op.output);
    THIMBLE_TRY(const ValueId y,
                rewriter_.to().add(OpKind::matmul, {rewriter_.map(op.inputs[0]), rewriter_.map(b)},
                                   attrs, op.source, {old.name, old.type.dim_order, {}}));
    rewriter_.set(op.output, y);
    return ok();
  }

  /// Returns the operand of a removed scaling that is scaled.
  [[nodiscard]] ValueId scaled_value(const Op& op) const { return scaling_of(graph_, op).x; }

  const Graph& graph_;
  const Uses uses_;
  ir::Rewriter rewriter_;
  std::vector<bool> folded_;         // by value: results of scalings folded into a matmul
  std::map<ValueId, double> scale_;  // by result of a matmul
};

}  // namespace

Result<Graph> fold_matmul(const Graph& graph) {
  return Folder(graph).run();
}

}  // namespace thimble::passes
