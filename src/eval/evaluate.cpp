// SPDX-License-Identifier: Apache-2.0
#include "eval/evaluate.h"

#include <cassert>

#include "eval/call.h"

namespace thimble::eval {
namespace {

using ir::Graph;
using ir::Op;
using ir::Tensor;
using ir::TensorPtr;
using ir::ValueId;

constexpr void (*kFunctions[])(const Call&) = {
#define THIMBLE_OP(name, category, operands, attributes) eval_##name,
#include "ir/ops.def"
#undef THIMBLE_OP
};

/// Returns an error if the graph has a delegate: the evaluator does not have its subgraph.
Status check_no_delegates(const Graph& graph) {
  for (const Op& op : graph.ops()) {
    if (op.kind != ir::OpKind::delegate) continue;
    return unsupported(
        "%{} is computed by delegate {} of another engine; evaluate the integer graph",
        graph.value(op.output).name, op.get(ir::attr::subgraph));
  }
  return ok();
}

/// Returns the number of operators, outputs and states that read each value.
std::vector<int> count_uses(const Graph& graph) {
  std::vector<int> uses(graph.value_count(), 0);
  for (const Op& op : graph.ops()) {
    for (const ValueId id : op.inputs) {
      if (id != ir::kNoValue) ++uses[static_cast<size_t>(id)];
    }
  }
  for (const ValueId id : graph.results()) ++uses[static_cast<size_t>(id)];
  return uses;
}

}  // namespace

void eval_delegate(const Call& /*call*/) {
  assert(false && "evaluate() refuses graphs with delegates");
}

OperandStrides broadcast_strides(const ir::Shape& from, const ir::Shape& to) {
  const std::vector<int64_t> own = ir::strides(from, {});
  const size_t missing = to.size() - from.size();
  OperandStrides steps(to.size(), 0);
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == to[missing + i]) steps[missing + i] = own[i];
  }
  return steps;
}

Status check_inputs(const Graph& graph, std::span<const Tensor> inputs) {
  if (inputs.size() != graph.inputs().size()) {
    return bad_input("{} inputs given, the graph has {}", inputs.size(), graph.inputs().size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ir::Value& value = graph.value(graph.inputs()[i]);
    const Tensor& given = inputs[i];
    if (given.dtype == value.type.dtype && given.shape == value.type.shape) {
      assert(given.bytes.size() == value.type.bytes());
      continue;
    }
    return bad_input("input {} (%{}) is {}, expected {}", i, value.name,
                     ir::type_text(given.dtype, given.shape),
                     ir::type_text(value.type.dtype, value.type.shape));
  }
  return ok();
}

StateTensors initial_state(const Graph& graph) {
  StateTensors tensors;
  for (const ir::State& state : graph.states()) tensors.push_back(*state.initial);
  return tensors;
}

Result<std::vector<Tensor>> evaluate(const Graph& graph, std::span<const Tensor> inputs,
                                     const OnResult& on_result) {
  StateTensors state = initial_state(graph);
  return evaluate(graph, inputs, state, on_result);
}

Result<std::vector<Tensor>> evaluate(const Graph& graph, std::span<const Tensor> inputs,
                                     StateTensors& state, const OnResult& on_result) {
  THIMBLE_CHECK(check_no_delegates(graph));
  THIMBLE_CHECK(check_inputs(graph, inputs));
  assert(state.size() == graph.states().size());
  std::vector<int> uses = count_uses(graph);
  std::vector<TensorPtr> values(graph.value_count());
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = graph.value(static_cast<ValueId>(i)).constant;
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    // Not owned: the caller's tensors outlive this call.
    values[static_cast<size_t>(graph.inputs()[i])] = TensorPtr(TensorPtr(), &inputs[i]);
  }
  for (size_t i = 0; i < state.size(); ++i) {
    values[static_cast<size_t>(graph.states()[i].value)] = TensorPtr(TensorPtr(), &state[i]);
  }
  for (const Op& op : graph.ops()) {
    const ir::Type& type = graph.type(op.output);
    auto result = std::make_shared<Tensor>(ir::zeros(type.dtype, type.shape));
    Call call{op, {}, *result};
    for (const ValueId id : op.inputs) {
      call.inputs.push_back(id == ir::kNoValue ? nullptr : values[static_cast<size_t>(id)].get());
    }
    kFunctions[static_cast<size_t>(op.kind)](call);
    if (on_result) on_result(op, *result);
    for (const ValueId id : op.inputs) {
      if (id != ir::kNoValue && --uses[static_cast<size_t>(id)] == 0) {
        values[static_cast<size_t>(id)].reset();
      }
    }
    if (uses[static_cast<size_t>(op.output)] > 0) {
      values[static_cast<size_t>(op.output)] = std::move(result);
    }
  }
  std::vector<Tensor> outputs;
  for (const ValueId id : graph.outputs()) outputs.push_back(*values[static_cast<size_t>(id)]);
  // All states change at once, because the next content of one state may be another state.
  StateTensors next;
  for (const ir::State& each : graph.states()) {
    next.push_back(*values[static_cast<size_t>(each.next)]);
  }
  state = std::move(next);
  return outputs;
}

}  // namespace thimble::eval
