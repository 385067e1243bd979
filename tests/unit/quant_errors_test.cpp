// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "ir/print.h"
#include "quant/quantize.h"

namespace thimble::test {
namespace {

using quant::CalibrationData;

ir::Graph parsed(const std::string& body) {
  auto graph = ir::parse("graph @forward {\n" + body + "\n}", "test");
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().message);
  return *graph;
}

const char* const kTanh = "input %x: f32[1,3] %y: f32[1,3] = tanh(%x) output %y";

Error error_of(const ir::Graph& graph, const CalibrationData& data) {
  const auto model = quant::quantize(graph, data, {}, {});
  EXPECT_FALSE(model.ok());
  return model.ok() ? Error{} : model.error();
}
CalibrationData one_input(ir::Tensor tensor) {
  CalibrationData data;
  data.inputs.push_back({"x", std::move(tensor)});
  return data;
}
std::string message_of(ir::Tensor tensor) {
  return error_of(parsed(kTanh), one_input(std::move(tensor))).message;
}

TEST(CalibrationErrors, ShapeAndCount) {
  EXPECT_EQ(error_of(parsed(kTanh), {}).message,
            "calibration data: 0 arrays, expected 1, one per input");
  EXPECT_EQ(message_of(ir::zeros(ir::DType::kF32, {5, 4})),
            "calibration data: x is f32[5,4], expected samples of [1,3]");
  EXPECT_EQ(message_of(ir::zeros(ir::DType::kF32, {0, 3})),
            "calibration data: x is f32[0,3], expected samples of [1,3]");
  CalibrationData uneven = one_input(ir::zeros(ir::DType::kF32, {5, 3}));
  uneven.inputs.push_back({"z", ir::zeros(ir::DType::kF32, {4, 3})});
  const ir::Graph graph =
      parsed("input %x: f32[1,3] input %z: f32[1,3] %y: f32[1,3] = add(%x, %z) output %y");
  EXPECT_EQ(error_of(graph, uneven).message, "calibration data: z has 4 samples, x has 5");
}

TEST(CalibrationErrors, NonFiniteValues) {
  ir::Tensor data = ir::zeros(ir::DType::kF32, {5, 3});
  data.data<float>()[3 * 3 + 2] = std::nanf("");
  EXPECT_EQ(message_of(data), "calibration data: x: sample 3, element 2 is nan");
  data.data<float>()[3 * 3 + 2] = -INFINITY;
  EXPECT_EQ(message_of(data), "calibration data: x: sample 3, element 2 is -inf");
}

TEST(CalibrationErrors, ActivationsThatOverflow) {
  const ir::Graph conv = parsed(R"(
    input %x: f32[1,1]
    const %w: f32[1,1] = 0x0000007f
    %y: f32[1,1] = linear(%x, %w, _) at "net.py":5
    output %y)");
  ir::Tensor data = ir::zeros(ir::DType::kF32, {2, 1});
  data.data<float>()[1] = 1e10F;
  const Error error = error_of(conv, one_input(data));
  EXPECT_EQ(error.kind, ErrorKind::kUnsupported);
  EXPECT_EQ(error.message,
            "net.py:5: linear: the result (%y) is not finite on calibration sample 1, and integers "
            "have no infinity: use a number like -1e9 in place of -inf, argmax of the negated "
            "values in place of argmin, or clamp the operands");
}

TEST(CalibrationErrors, AcceptsExactIntegers) {
  ir::Tensor data = ir::zeros(ir::DType::kI32, {2, 3});
  data.data<int32_t>()[4] = 7;
  EXPECT_TRUE(quant::quantize(parsed(kTanh), one_input(data), {}, {}).ok());
  data.data<int32_t>()[4] = (1 << 24) + 1;
  EXPECT_EQ(message_of(data),
            "calibration data: x: sample 1, element 1 is 16777217, which float32 cannot "
            "represent exactly");
}

TEST(CalibrationErrors, SamplesWithAndWithoutBatchAxis) {
  const ir::Graph graph = parsed("input %x: f32[2,3] %y: f32[2,3] = tanh(%x) output %y");
  const auto flat = quant::quantize(graph, one_input(ir::zeros(ir::DType::kF32, {6, 3})), {}, {});
  ASSERT_TRUE(flat.ok());
  EXPECT_EQ(flat->report.samples, 3);
  const auto nested =
      quant::quantize(graph, one_input(ir::zeros(ir::DType::kF32, {6, 2, 3})), {}, {});
  ASSERT_TRUE(nested.ok());
  EXPECT_EQ(nested->report.samples, 6);
}

TEST(QuantizeErrors, ListsAllOperatorsWithoutIntegerRule) {
  const ir::Graph graph = parsed(R"text(
    input %x: f32[1,3]
    input %w: f32[3,3]
    %a: f32[1,3] = linear(%x, %w, _) at "net.py":5 "self.mix(x)" in "mix" of "aten.linear.default"
    %b: f32[1,3] = linear(%x, %w, _) at "net.py":9 "self.last(x)"
    output %a output %b)text");
  const Error error = error_of(graph, {});
  EXPECT_EQ(error.kind, ErrorKind::kUnsupported);
  for (const char* part : {"net.py:5", "self.mix(x)", "in module mix", "aten.linear.default",
                           "its weights are not constant", "net.py:9", "self.last(x)"}) {
    EXPECT_NE(error.message.find(part), std::string::npos) << part << "\n" << error.message;
  }
}

}  // namespace
}  // namespace thimble::test
