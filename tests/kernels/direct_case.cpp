#include "tests/kernels/direct_case.h"

#include <gtest/gtest.h>

#include <cstring>

#include "eval/evaluate.h"

namespace thimble::kernels::test {
namespace {

struct Types {
  ir::DType ir;
  DType kernel;
};
constexpr Types kTypes[] = {{ir::DType::kF32, DType::kF32},  {ir::DType::kI8, DType::kI8},
                            {ir::DType::kU8, DType::kU8},    {ir::DType::kI16, DType::kI16},
                            {ir::DType::kI32, DType::kI32},  {ir::DType::kI64, DType::kI64},
                            {ir::DType::kBool, DType::kBool}};

/// The operator alone in a graph, with inputs of these types.
ir::Graph graph_of(ir::OpKind kind, const std::vector<ir::Tensor>& operands,
                   const ir::Attrs& attrs) {
  ir::Graph graph;
  std::vector<ir::ValueId> inputs;
  for (const ir::Tensor& operand : operands) {
    inputs.push_back(graph.add_input("x", {operand.dtype, operand.shape, {}, {}}));
  }
  const auto result = graph.add(kind, inputs, attrs);
  EXPECT_TRUE(result.ok()) << result.error().message;
  graph.add_output(*result);
  return graph;
}

std::vector<int32_t> words_of(const ir::Op& op) {
  std::vector<int32_t> words;
  for (const ir::AttrInfo& attr : ir::op_info(op.kind).attrs) {
    words.push_back(static_cast<int32_t>(op.integer(attr.name)));
  }
  return words;
}

}  // namespace

ir::Tensor to_ir(const Value& value) {
  ir::Tensor tensor;
  for (const Types& types : kTypes) {
    if (types.kernel == value.dtype) tensor.dtype = types.ir;
  }
  tensor.shape.assign(value.sizes.begin(), value.sizes.end());
  const auto* bytes = reinterpret_cast<const std::byte*>(value.data.get());
  tensor.bytes.assign(bytes, bytes + value.bytes);
  return tensor;
}

Value from_ir(const ir::Tensor& tensor) {
  DType dtype = DType::kI8;
  for (const Types& types : kTypes) {
    if (types.ir == tensor.dtype) dtype = types.kernel;
  }
  Value value = make(dtype, Sizes(tensor.shape.begin(), tensor.shape.end()));
  std::memcpy(value.data.get(), tensor.bytes.data(), tensor.bytes.size());
  return value;
}

Invocation direct(abi::PteOp op, ir::OpKind kind, const std::vector<ir::Tensor>& operands,
                  const ir::Attrs& attrs) {
  const ir::Graph graph = graph_of(kind, operands, attrs);
  Invocation call(op);
  for (const ir::Tensor& operand : operands) call.add(from_ir(operand));
  if (!ir::op_info(kind).attrs.empty()) {
    const std::vector<int32_t> words = words_of(graph.ops()[0]);
    std::vector<uint8_t> bytes(words.size() * sizeof(int32_t));
    std::memcpy(bytes.data(), words.data(), bytes.size());
    call.add(constant_bytes(bytes));
  }
  const ir::Type& type = graph.type(graph.outputs()[0]);
  call.add(from_ir(ir::zeros(type.dtype, type.shape)));
  return call;
}

void expect_as_evaluated(abi::PteOp op, ir::OpKind kind, const std::vector<ir::Tensor>& operands,
                         const ir::Attrs& attrs) {
  const ir::Graph graph = graph_of(kind, operands, attrs);
  const auto wanted = eval::evaluate(graph, operands);
  ASSERT_TRUE(wanted.ok()) << wanted.error().message;
  Invocation call = direct(op, kind, operands, attrs);
  ASSERT_NO_FATAL_FAILURE(call.run());
  const ir::Tensor got = to_ir(call.out());
  ASSERT_EQ(got.bytes.size(), (*wanted)[0].bytes.size());
  for (size_t i = 0; i < got.bytes.size(); ++i) {
    ASSERT_EQ(got.bytes[i], (*wanted)[0].bytes[i]) << call.kernel->name << " byte " << i;
  }
}

}  // namespace thimble::kernels::test
