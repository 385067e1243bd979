// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/direct.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "abi/pte_ops.h"
#include "engine/direct.h"
#include "eval/evaluate.h"
#include "ir/print.h"

namespace thimble::kernels::test {
namespace {

DType device_dtype(ir::DType dtype) {
  switch (dtype) {
    case ir::DType::kF32:
      return DType::kF32;
    case ir::DType::kI8:
      return DType::kI8;
    case ir::DType::kU8:
      return DType::kU8;
    case ir::DType::kI16:
      return DType::kI16;
    case ir::DType::kI32:
      return DType::kI32;
    case ir::DType::kI64:
      return DType::kI64;
    case ir::DType::kBool:
      return DType::kBool;
  }
  return DType::kU8;
}

Order order_of(const Order& order, const ir::Shape& shape) {
  return order.empty() ? contiguous(shape.size()) : order;
}

Value placed(const Operand& operand) {
  const ir::Tensor& tensor = operand.tensor;
  const Sizes sizes(tensor.shape.begin(), tensor.shape.end());
  const Order order = order_of(operand.order, tensor.shape);
  Value value = make(device_dtype(tensor.dtype), sizes, order);
  const auto bytes = ir::to_memory(tensor, order);
  std::memcpy(value.data.get(), bytes.data(), bytes.size());
  value.constant = operand.constant;
  return value;
}

/// Evaluates the operator alone in a graph.
ir::Tensor evaluated(ir::OpKind kind, const ir::Attrs& attrs,
                     const std::vector<std::optional<Operand>>& operands, ir::Graph& graph) {
  std::vector<ir::ValueId> ids;
  std::vector<ir::Tensor> inputs;
  for (const auto& operand : operands) {
    if (!operand) {
      ids.push_back(ir::kNoValue);
    } else if (operand->constant) {
      ids.push_back(graph.add_constant("c", std::make_shared<ir::Tensor>(operand->tensor)));
    } else {
      ids.push_back(graph.add_input("x", {operand->tensor.dtype, operand->tensor.shape, {}, {}}));
      inputs.push_back(operand->tensor);
    }
  }
  const auto result = graph.add(kind, ids, attrs);
  if (!result.ok()) {
    ADD_FAILURE() << result.error().message;
    return {};
  }
  graph.add_output(*result);
  const auto outputs = eval::evaluate(graph, inputs);
  if (outputs.ok()) return outputs->at(0);
  ADD_FAILURE() << outputs.error().message;
  return {};
}

}  // namespace

ir::Tensor random_tensor(Random& random, ir::DType dtype, const ir::Shape& shape) {
  ir::Tensor tensor = ir::zeros(dtype, shape);
  for (std::byte& byte : tensor.bytes) byte = static_cast<std::byte>(random());
  return tensor;
}

ir::Tensor random_i32(Random& random, const ir::Shape& shape, int32_t low, int32_t high) {
  ir::Tensor tensor = ir::zeros(ir::DType::kI32, shape);
  for (int32_t& value : tensor.data<int32_t>()) value = uniform(random, low, high);
  return tensor;
}

void expect_direct(ir::OpKind kind, const ir::Attrs& attrs,
                   const std::vector<std::optional<Operand>>& operands, const Order& order) {
  ir::Graph graph;
  const ir::Tensor expected = evaluated(kind, attrs, operands, graph);
  ASSERT_FALSE(expected.bytes.empty());
  const engine::DirectOp* const direct = engine::direct_op(kind);
  ASSERT_NE(direct, nullptr) << ir::op_name(kind);
  Invocation call(direct->op);
  for (const auto& operand : operands) call.add(operand ? placed(*operand) : absent());
  if (direct->params_bytes != 0) {
    const auto params = engine::direct_params(*direct, graph.ops()[0]);
    ASSERT_TRUE(params.ok()) << params.error().message;
    const auto* data = reinterpret_cast<const uint8_t*>(params->data());
    call.add(constant_bytes({data, data + params->size()}));
  }
  if (std::string_view(abi::info(direct->op).arguments).find('s') != std::string_view::npos) {
    const int64_t bytes = engine::direct_scratch_bytes(graph, graph.ops()[0]);
    call.add(make(DType::kU8, {static_cast<int32_t>(bytes)}));
  }
  const Order y_order = order_of(order, expected.shape);
  const Sizes sizes(expected.shape.begin(), expected.shape.end());
  call.add(make(device_dtype(expected.dtype), sizes, y_order));
  ASSERT_NO_FATAL_FAILURE(call.run());
  const auto* bytes = reinterpret_cast<const std::byte*>(call.out().data.get());
  const ir::Tensor got = ir::from_memory({bytes, call.out().bytes}, expected.dtype, expected.shape,
                                         {y_order.begin(), y_order.end()});
  ASSERT_EQ(got, expected) << ir::print(graph);
  call.record_equal();
}

}  // namespace thimble::kernels::test
