// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/eval_support.h"

#include <gtest/gtest.h>

#include "eval/evaluate.h"
#include "ir/print.h"

namespace thimble::test {
namespace {

template <typename T>
std::vector<double> as_doubles(const ir::Tensor& tensor) {
  const auto data = tensor.data<T>();
  std::vector<double> result;
  for (const T value : data) result.push_back(static_cast<double>(value));
  return result;
}

}  // namespace

ir::Tensor run(const std::vector<Named>& operands, std::string_view op) {
  std::string text = "graph @test {\n";
  std::vector<ir::Tensor> inputs;
  for (const Named& operand : operands) {
    const std::string type = ir::type_text(operand.tensor.dtype, operand.tensor.shape);
    if (operand.constant) {
      std::string hex;
      for (const std::byte byte : operand.tensor.bytes) {
        hex += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
      }
      text += fmt::format("const %{}: {} = 0x{}\n", operand.name, type, hex);
    } else {
      text += fmt::format("input %{}: {}\n", operand.name, type);
      inputs.push_back(operand.tensor);
    }
  }
  text += fmt::format("%result = {}\noutput %result\n}}\n", op);
  const auto graph = ir::parse(text, "test");
  if (!graph.ok()) {
    ADD_FAILURE() << graph.error().message;
    return {};
  }
  auto outputs = eval::evaluate(*graph, inputs);
  if (!outputs.ok()) {
    ADD_FAILURE() << outputs.error().message;
    return {};
  }
  return outputs->at(0);
}

ir::Tensor floats(const ir::Shape& shape, std::vector<float> values) {
  return ir::make_f32(shape, values);
}

ir::Tensor codes(const ir::Shape& shape, const std::vector<int>& values) {
  std::vector<int8_t> bytes;
  for (const int value : values) bytes.push_back(static_cast<int8_t>(value));
  return ir::make_i8(shape, bytes);
}

ir::Tensor words(const ir::Shape& shape, std::vector<int32_t> values) {
  return ir::make_i32(shape, values);
}

std::vector<double> elements(const ir::Tensor& tensor) {
  switch (tensor.dtype) {
    case ir::DType::kF32:
      return as_doubles<float>(tensor);
    case ir::DType::kI8:
      return as_doubles<int8_t>(tensor);
    case ir::DType::kU8:
    case ir::DType::kBool:
      return as_doubles<uint8_t>(tensor);
    case ir::DType::kI16:
      return as_doubles<int16_t>(tensor);
    case ir::DType::kI32:
      return as_doubles<int32_t>(tensor);
    case ir::DType::kI64:
      return as_doubles<int64_t>(tensor);
  }
  return {};
}

}  // namespace thimble::test
