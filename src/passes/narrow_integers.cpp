// SPDX-License-Identifier: Apache-2.0
#include "passes/narrow_integers.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/int_functions.h"

namespace thimble::passes {
namespace {

using ir::Attrs;
using ir::DType;
using ir::IntReduction;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

bool is_integer_op(OpKind kind) {
  switch (kind) {
    case OpKind::int_cast:
    case OpKind::int_cumsum:
    case OpKind::int_pair:
    case OpKind::int_reduce:
    case OpKind::int_to_float:
      return true;
    default:
      return false;
  }
}

/// Returns the function of amax, amin and argmax on integers that have no scale.
std::optional<IntReduction> reduction_of(const ir::Graph& graph, const Op& op) {
  if (op.inputs.empty()) return std::nullopt;
  const DType x = graph.type(op.inputs[0]).dtype;
  if (x != DType::kBool && x != DType::kI32 && x != DType::kI64) return std::nullopt;
  if (op.kind == OpKind::amax) return IntReduction::kMax;
  if (op.kind == OpKind::amin) return IntReduction::kMin;
  if (op.kind != OpKind::argmax) return std::nullopt;
  return op.get(ir::attr::smallest) != 0 ? IntReduction::kArgmin : IntReduction::kArgmax;
}

class Narrower {
 public:
  explicit Narrower(const ir::Graph& graph) : from_(graph), rewriter_(graph) {
    for (const ValueId id : graph.results()) results_.insert(id);
  }

  Result<ir::Graph> run() {
    for (const Op& op : from_.ops()) {
      if (needs_narrowing(op)) {
        THIMBLE_CHECK(narrow(op));
      } else {
        THIMBLE_CHECK(rewriter_.copy(op));
      }
    }
    for (const ValueId id : results_) THIMBLE_CHECK(widen(id));
    return rewriter_.finish();
  }

 private:
  ir::Graph& to() { return rewriter_.to(); }

  [[nodiscard]] bool needs_narrowing(const Op& op) const {
    if (is_integer_op(op.kind) || reduction_of(from_, op)) return true;
    const bool computes = op.kind != OpKind::argmax && op.kind != OpKind::delegate;
    if (computes && from_.type(op.output).dtype == DType::kI64) return true;
    return std::ranges::any_of(op.inputs, [&](ValueId id) { return narrow_.contains(id); });
  }

  Result<ValueId> cast(ValueId value, DType dtype, const ir::Source& source,
                       ir::Graph::ResultHint hint) {
    return to().add(OpKind::int_cast, {value}, {{ir::attr::type, static_cast<int64_t>(dtype)}},
                    source, std::move(hint));
  }

  /// Returns an operand of the new graph; i32 if it is i64 in the old one.
  Result<ValueId> operand(ValueId id, const Op& op) {
    if (id == ir::kNoValue || from_.type(id).dtype != DType::kI64) return rewriter_.map(id);
    const auto found = narrow_.find(id);
    if (found != narrow_.end()) return found->second;
    const ir::Value& value = from_.value(id);
    if (value.constant == nullptr) {
      THIMBLE_TRY(const ValueId made, cast(rewriter_.map(id), DType::kI32, op.source,
                                           {value.name + "_i32", value.type.dim_order, {}}));
      return narrow_[id] = made;
    }
    ir::Tensor small = ir::zeros(DType::kI32, value.type.shape);
    const auto numbers = value.constant->data<int64_t>();
    for (size_t i = 0; i < numbers.size(); ++i) {
      small.data<int32_t>()[i] = static_cast<int32_t>(numbers[i]);
      if (small.data<int32_t>()[i] == numbers[i]) continue;
      return ir::located(
          op.source, op.kind,
          unsupported("the integer {} does not fit 32 bits, in which a device computes: "
                      "use a number up to 2147483647",
                      numbers[i]));
    }
    return narrow_[id] = to().add_constant(
               value.name, std::make_shared<const ir::Tensor>(std::move(small)), {});
  }

  Status narrow(const Op& op) {
    std::vector<ValueId> inputs;
    for (const ValueId id : op.inputs) {
      THIMBLE_TRY(const ValueId input, operand(id, op));
      inputs.push_back(input);
    }
    const ir::Value& result = from_.value(op.output);
    const ir::Type& first = to().type(inputs[0]);
    const bool same = first.dtype == DType::kI32 && first.dim_order == result.type.dim_order &&
                      first.quant == result.type.quant;
    if (op.kind == OpKind::int_cast && same) {
      set(op.output, inputs[0]);
      return ok();
    }
    OpKind kind = op.kind;
    Attrs attrs = op.attrs;
    if (kind == OpKind::int_cast) attrs.set(ir::attr::type, static_cast<int64_t>(DType::kI32));
    if (const auto function = reduction_of(from_, op)) {
      kind = OpKind::int_reduce;
      attrs = {
          {ir::attr::function, static_cast<int64_t>(*function)},
          {ir::attr::keepdim, op.get(ir::attr::keepdim)},
          {ir::attr::dims, op.kind == OpKind::argmax ? std::vector<int64_t>{op.get(ir::attr::dim)}
                                                     : op.get(ir::attr::dims)}};
    }
    const bool widens = result.type.dtype == DType::kI64 && results_.contains(op.output);
    THIMBLE_TRY(const ValueId made, to().add(kind, std::move(inputs), std::move(attrs), op.source,
                                             {result.name + (widens ? "_i32" : ""),
                                              result.type.dim_order, result.type.quant}));
    set(op.output, made);
    return ok();
  }

  void set(ValueId old_value, ValueId made) {
    if (from_.type(old_value).dtype == DType::kI64) {
      narrow_[old_value] = made;
      computed_.insert(old_value);
    } else {
      rewriter_.set(old_value, made);
    }
  }

  /// Converts a graph output to its type.
  Status widen(ValueId id) {
    if (!computed_.contains(id)) return ok();
    const Op& op = from_.ops()[static_cast<size_t>(from_.producers()[ir::index_of(id)])];
    const ir::Value& result = from_.value(id);
    THIMBLE_TRY(const ValueId wide, cast(narrow_.at(id), DType::kI64, op.source,
                                         {result.name, result.type.dim_order, result.type.quant}));
    rewriter_.set(id, wide);
    return ok();
  }

  const ir::Graph& from_;
  ir::Rewriter rewriter_;
  std::set<ValueId> results_;
  std::map<ValueId, ValueId> narrow_;  // i64 value of the old graph: i32 value of the new one
  std::set<ValueId> computed_;  // i64 values of the old graph without an i64 value in the new one
};

}  // namespace

Result<ir::Graph> narrow_integers(const ir::Graph& graph) {
  const bool computes = std::ranges::any_of(
      graph.ops(), [&](const Op& op) { return is_integer_op(op.kind) || reduction_of(graph, op); });
  if (!computes) return graph;
  return Narrower(graph).run();
}

}  // namespace thimble::passes
