// SPDX-License-Identifier: Apache-2.0
#include "passes/remove_noops.h"

#include <algorithm>

#include "passes/uses.h"

namespace thimble::passes {
namespace {

using ir::Graph;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

bool is_identity(const std::vector<int64_t>& dims) {
  return std::is_sorted(dims.begin(), dims.end());
}

bool all_zero(const std::vector<int64_t>& values) {
  return std::all_of(values.begin(), values.end(), [](int64_t value) { return value == 0; });
}

/// Returns true if the result equals the first operand, element by element.
bool is_noop(const Graph& graph, const Op& op) {
  const ir::Shape& x = graph.type(op.inputs[0]).shape;
  switch (op.kind) {
    case OpKind::copy:
      return true;
    case OpKind::reshape:
    case OpKind::expand:
      return x == graph.type(op.output).shape;
    case OpKind::permute:
      return is_identity(op.get(ir::attr::dims));
    case OpKind::slice:
      return x == graph.type(op.output).shape;
    case OpKind::concat:
      return op.inputs.size() == 1;
    case OpKind::pad:
      return all_zero(op.get(ir::attr::before)) && all_zero(op.get(ir::attr::after));
    default:
      return false;
  }
}

/// Makes a slice of a concatenation read the operand that has all its elements, if there is one.
void slice_operand(const Graph& to, const Op& concat, Op& op) {
  const int64_t dim = concat.get(ir::attr::dim);
  if (op.get(ir::attr::dim) != dim) return;
  int64_t begin = 0;
  for (const ValueId operand : concat.inputs) {
    const int64_t end = begin + to.type(operand).shape[static_cast<size_t>(dim)];
    if (begin <= op.get(ir::attr::start) && op.get(ir::attr::end) <= end) {
      op.attrs.set(ir::attr::start, op.get(ir::attr::start) - begin);
      op.attrs.set(ir::attr::end, op.get(ir::attr::end) - begin);
      op.inputs[0] = operand;
      return;
    }
    begin = end;
  }
}

/// Merges a reshape of a reshape, a permute of a permute, or a slice of a concatenation into `op`.
void join_with_producer(const Graph& to, const std::vector<int>& producers, Op& op) {
  const int index = producers[static_cast<size_t>(op.inputs[0])];
  if (index < 0) return;
  const Op& before = to.ops()[static_cast<size_t>(index)];
  if (op.kind == OpKind::slice && before.kind == OpKind::concat) slice_operand(to, before, op);
  if (before.kind != op.kind) return;
  if (op.kind == OpKind::permute) {
    const auto& inner = before.get(ir::attr::dims);
    std::vector<int64_t> dims;
    for (const int64_t dim : op.get(ir::attr::dims))
      dims.push_back(inner[static_cast<size_t>(dim)]);
    op.attrs.set(ir::attr::dims, dims);
  } else if (op.kind != OpKind::reshape) {
    return;
  }
  op.inputs[0] = before.inputs[0];
}

class NoopRemover {
 public:
  explicit NoopRemover(const Graph& graph) : uses_(graph), rewriter_(graph) {}

  Result<Graph> run() {
    for (const Op& op : rewriter_.from().ops()) THIMBLE_CHECK(rewrite(op));
    return rewriter_.finish();
  }

 private:
  Status rewrite(const Op& old_op) {
    Op op = old_op;
    op.inputs = rewriter_.map(old_op.inputs);
    const ir::Value& old = rewriter_.from().value(old_op.output);
    op.output = ir::kNoValue;
    if (op.kind == OpKind::reshape || op.kind == OpKind::permute || op.kind == OpKind::slice) {
      producers_.resize(rewriter_.to().value_count(), -1);
      join_with_producer(rewriter_.to(), producers_, op);
    }
    if (vanishes(op, old_op)) {
      rewriter_.set(old_op.output, op.inputs[0]);
      return ok();
    }
    const int index = static_cast<int>(rewriter_.to().ops().size());
    THIMBLE_TRY(const ValueId id,
                rewriter_.to().add(op.kind, op.inputs, op.attrs, op.source,
                                   {old.name, old.type.dim_order, old.type.quant}));
    producers_.resize(rewriter_.to().value_count(), -1);
    producers_[static_cast<size_t>(id)] = index;
    made_for_.resize(producers_.size(), ir::kNoValue);
    made_for_[static_cast<size_t>(id)] = old_op.output;
    rewriter_.set(old_op.output, id);
    return ok();
  }

  /// Returns true if `op`, whose operands are those of the new graph, is removed. If the graph
  /// output has another memory order than the operand, the operand gets that order if it has no
  /// other reader; otherwise the operator is kept.
  bool vanishes(const Op& op, const Op& old_op) {
    const ir::Type& wanted = rewriter_.from().type(old_op.output);
    ir::Value& operand = rewriter_.to().value(op.inputs[0]);
    if (operand.type.shape != wanted.shape || operand.type.quant != wanted.quant) return false;
    const bool joined_to_nothing =
        op.kind == OpKind::slice ||
        (op.kind == OpKind::permute && is_identity(op.get(ir::attr::dims)));
    if (!joined_to_nothing && op.kind != OpKind::reshape && !is_noop(rewriter_.from(), old_op)) {
      return false;
    }
    if (!uses_.is_output(old_op.output)) return true;
    if (operand.type.dim_order == wanted.dim_order) return true;
    // The operand may also replace other old values; then its memory order must not change.
    made_for_.resize(rewriter_.to().value_count(), ir::kNoValue);
    const bool free_to_change = made_for_[static_cast<size_t>(op.inputs[0])] == old_op.inputs[0] &&
                                uses_.only_reader(old_op.inputs[0]) != nullptr;
    if (free_to_change) operand.type.dim_order = wanted.dim_order;
    return free_to_change;
  }

  Uses uses_;
  ir::Rewriter rewriter_;
  std::vector<int> producers_;     // operator index by value of the new graph
  std::vector<ValueId> made_for_;  // by value of the new graph: the old value it was created for
};

}  // namespace

Result<Graph> remove_noops(const Graph& graph) {
  return NoopRemover(graph).run();
}

}  // namespace thimble::passes
