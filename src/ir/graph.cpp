// SPDX-License-Identifier: Apache-2.0
#include "ir/graph.h"

#include <algorithm>
#include <cassert>

#include "ir/infer.h"
#include "ir/refused_op.h"
#include "ir/row_check.h"

namespace thimble::ir {
namespace {

/// Returns the type that the type rule gave, with the dim_order and quant of `hint` applied.
Result<Type> hinted(Type type, const Graph::ResultHint& hint) {
  if (hint.dim_order) type.dim_order = *hint.dim_order;
  if (hint.quant) {
    if (type.quant && *type.quant != *hint.quant) {
      return bad_input(
          "the result has the quantization of its operand or attributes, "
          "which differs from the given one");
    }
    type.quant = hint.quant;
  }
  THIMBLE_CHECK(check_type(type));
  if (is_contiguous(type.dim_order)) type.dim_order.clear();
  return type;
}

}  // namespace

std::string Source::where() const {
  if (file.empty()) return module;
  return line > 0 ? fmt::format("{}:{}", file, line) : file;
}

Error located(const Source& source, OpKind kind, const Error& error) {
  const std::string where = source.where();
  std::string message =
      fmt::format("{}{}{}: {}", where, where.empty() ? "" : ": ", op_name(kind), error.message);
  if (error.kind != ErrorKind::kUnsupported || error.facts != nullptr) {
    return {error.kind, std::move(message), error.facts};
  }
  ErrorFacts facts;
  facts.ops.push_back(refused_op(source, kind, error.message));
  return refusal(std::move(message), std::move(facts));
}

RefusedOp refused_op(const Source& source, OpKind kind, std::string_view reason) {
  return {source.target.empty() ? std::string(op_name(kind)) : source.target, source.where(),
          source.text, source.module, std::string(reason)};
}

ValueId Graph::add_input(std::string value_name, Type type) {
  if (is_contiguous(type.dim_order)) type.dim_order.clear();
  const ValueId id = static_cast<ValueId>(values_.size());
  if (value_name.empty()) value_name = "input";
  values_.push_back({names_.add(value_name), std::move(type), nullptr});
  inputs_.push_back(id);
  return id;
}

ValueId Graph::add_constant(std::string value_name, TensorPtr tensor, std::optional<Quant> quant) {
  assert(tensor != nullptr);
  const ValueId id = static_cast<ValueId>(values_.size());
  if (value_name.empty()) value_name = "const";
  Type type{tensor->dtype, tensor->shape, {}, std::move(quant)};
  values_.push_back({names_.add(value_name), std::move(type), std::move(tensor)});
  return id;
}

ValueId Graph::add_state(std::string value_name, TensorPtr initial, std::optional<Quant> quant) {
  assert(initial != nullptr);
  const ValueId id = static_cast<ValueId>(values_.size());
  if (value_name.empty()) value_name = "state";
  Type type{initial->dtype, initial->shape, {}, std::move(quant)};
  values_.push_back({names_.add(value_name), std::move(type), nullptr});
  states_.push_back({id, std::move(initial), id});
  return id;
}

Result<ValueId> Graph::add(OpKind kind, std::vector<ValueId> inputs, Attrs attrs, Source source,
                           ResultHint hint) {
  Op op{kind, std::move(inputs), kNoValue, {}, std::move(source)};
  const auto check = [&]() -> Result<Type> {
    THIMBLE_CHECK(check_operands(kind, op.inputs));
    THIMBLE_TRY(op.attrs, normalized(kind, attrs));
    std::vector<const Value*> operands;
    for (const ValueId id : op.inputs) {
      assert(id == kNoValue || (id >= 0 && static_cast<size_t>(id) < values_.size()));
      operands.push_back(id == kNoValue ? nullptr : &value(id));
    }
    THIMBLE_TRY(Type type, infer_type(kind, operands, op));
    return hinted(std::move(type), hint);
  };
  auto type = check();
  if (!type) return located(op.source, kind, type.error());

  op.output = static_cast<ValueId>(values_.size());
  if (hint.name.empty()) hint.name = op_name(kind);
  values_.push_back({names_.add(hint.name), std::move(*type), nullptr});
  ops_.push_back(std::move(op));
  return ops_.back().output;
}

bool Graph::is_input(ValueId id) const {
  return std::find(inputs_.begin(), inputs_.end(), id) != inputs_.end();
}

bool Graph::is_state(ValueId id) const {
  return std::any_of(states_.begin(), states_.end(),
                     [id](const State& state) { return state.value == id; });
}

std::vector<ValueId> Graph::results() const {
  std::vector<ValueId> all = outputs_;
  for (const State& state : states_) all.push_back(state.next);
  return all;
}

std::vector<int> Graph::producers() const {
  std::vector<int> result(values_.size(), -1);
  for (size_t i = 0; i < ops_.size(); ++i) {
    result[static_cast<size_t>(ops_[i].output)] = static_cast<int>(i);
  }
  return result;
}

std::vector<std::vector<int>> Graph::consumers() const {
  std::vector<std::vector<int>> result(values_.size());
  for (size_t i = 0; i < ops_.size(); ++i) {
    for (const ValueId id : ops_[i].inputs) {
      if (id != kNoValue) result[static_cast<size_t>(id)].push_back(static_cast<int>(i));
    }
  }
  return result;
}

}  // namespace thimble::ir
