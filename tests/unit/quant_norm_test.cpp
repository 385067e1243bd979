// SPDX-License-Identifier: Apache-2.0
// Rules of reductions and norms: the integer operator they become, and their accuracy, which is
// limited only by the 8 bits of operand and result.

#include <gtest/gtest.h>

#include <algorithm>

#include "eval/evaluate.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "quant/quantize.h"
#include "quant_random_network.h"

namespace thimble::test {
namespace {

Result<quant::QuantizedModel> quantized(const std::string& text) {
  const auto graph = ir::parse("graph @forward {\n" + text + "\n}", "test");
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().message);
  if (!graph) return graph.error();
  return quant::quantize(*graph, random_calibration(*graph, 1, 16), {}, {});
}

struct Case {
  std::string op, type;  // type of the result
  std::string integer;   // the integer operator
  double decibels;       // minimum SQNR with 8-bit operand and result
};

void expect_lowered(const Case& c) {
  SCOPED_TRACE(c.op);
  const auto model = quantized(
      "input %x: f32[2,8,3,16]\n"
      "const %w: f32[16] = 0x0000803f00000040...\n"
      "const %b: f32[16] = 0x000080bf0000803f...\n"
      "const %v: f32[8] = 0x0000803f00000040...\n"
      "const %d: f32[8] = 0x000080bf0000803f...\n"
      "%y: f32" +
      c.type + " = " + c.op + "\noutput %y");
  ASSERT_TRUE(model.ok()) << model.error().message;
  ASSERT_TRUE(ir::verify(model->graph).ok());
  ASSERT_EQ(model->graph.ops().size(), 3U);
  EXPECT_EQ(ir::op_name(model->graph.ops()[1].kind), c.integer);
  EXPECT_GT(model->report.output_sqnr_db[0], c.decibels);
}

TEST(QuantizeNorms, AccuracyIsLimitedByInt8Only) {
  const std::string all = "[2,8,3,16]";
  expect_lowered({"layer_norm(%x, %w, %b) {dims=1, eps=1e-05}", all, "qlayer_norm", 38});
  expect_lowered({"layer_norm(%x, _, _) {dims=3, eps=1}", all, "qlayer_norm", 38});
  expect_lowered({"layer_norm(%x, _, %b) {dims=1, eps=1e-05}", all, "qlayer_norm", 38});
  expect_lowered({"rms_norm(%x, %w) {dims=1, eps=1e-05}", all, "qrms_norm", 38});
  expect_lowered({"group_norm(%x, %v, %d) {groups=2, eps=1e-05}", all, "qgroup_norm", 38});
  expect_lowered({"group_norm(%x, _, _) {groups=8, eps=1e-05}", all, "qgroup_norm", 38});
}

TEST(QuantizeReductions, AccuracyIsLimitedByInt8Only) {
  expect_lowered({"sum(%x) {dims=[1,3]}", "[2,3]", "qmean", 30});
  expect_lowered({"variance(%x) {dims=[3], keepdim=1}", "[2,8,3,1]", "qvariance", 30});
  expect_lowered({"variance(%x) {dims=[1,2], correction=0}", "[2,16]", "qvariance", 30});
  expect_lowered({"cumsum(%x) {dim=1}", "[2,8,3,16]", "qcumsum", 35});
  expect_lowered({"amax(%x) {dims=[2,3]}", "[2,8]", "amax", 25});
  expect_lowered({"amin(%x) {dims=[1]}", "[2,3,16]", "amin", 30});
}

/// The scale of a norm's operand is at least sqrt(eps) * n / 2^30, so that eps * n^2 / scale^2 is
/// at most 2^60. The norm of an operand that is much smaller than sqrt(eps) is the operand minus
/// its mean; with a smaller eps its magnitude would be 1.
TEST(QuantizeNorms, EpsDoesNotOverflowForSmallScale) {
  struct Case {
    const char* factor;  // the operand is x * factor
    double largest_min;  // lower bound of the largest result
  };
  for (const Case& c : {Case{"0x17b7f138", 2e-4}, Case{"0x17b7d12a", 0}}) {
    SCOPED_TRACE(c.factor);
    const ir::Graph graph =
        parsed("input %x: f32[1,4096]\nconst %small: f32[1] = " + std::string(c.factor) + R"(
      %s: f32[1,4096] = mul(%x, %small)
      %y: f32[1,4096] = layer_norm(%s, _, _) {dims=1, eps=1}
      output %y)");
    const auto model = quant::quantize(graph, random_calibration(graph, 1, 16), {}, {});
    ASSERT_TRUE(model.ok()) << model.error().message;
    ASSERT_TRUE(ir::verify(model->graph).ok());
    ASSERT_EQ(names_of(model->graph), "quantize lut qlayer_norm dequantize");
    const ir::Op& norm = model->graph.ops()[2];
    EXPECT_EQ(model->graph.type(norm.inputs[0]).quant->scale[0], 0x1p-18);
    const double step = model->graph.type(norm.output).quant->scale[0];
    ir::Tensor x = random_inputs(graph, 3)[0];  // in [-8, 8]; the calibration saw [-2, 2]
    for (float& value : x.data<float>()) value /= 4;
    const auto outputs = eval::evaluate(model->graph, std::vector{x});
    const auto expected = eval::evaluate(graph, std::vector{x});
    ASSERT_TRUE(outputs.ok() && expected.ok());
    const auto y = outputs->front().data<float>(), wanted = expected->front().data<float>();
    for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], wanted[i], step) << "at " << i;
    EXPECT_GE(*std::ranges::max_element(y), c.largest_min);
  }
}

TEST(QuantizeNorms, NonConstantWeightsAreRefusedByName) {
  const auto model = quantized(R"(
    input %x: f32[2,4]
    input %w: f32[4]
    %y: f32[2,4] = layer_norm(%x, %w, _) {dims=1, eps=1} at "net.py":9
    output %y)");
  ASSERT_FALSE(model.ok());
  EXPECT_NE(model.error().message.find("net.py:9"), std::string::npos) << model.error().message;
  EXPECT_NE(model.error().message.find("weights are not constant"), std::string::npos)
      << model.error().message;
}

}  // namespace
}  // namespace thimble::test
