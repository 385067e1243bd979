// SPDX-License-Identifier: Apache-2.0
// One test per rule of docs/quantization.md, on small graphs.

#include <gtest/gtest.h>

#include <random>

#include <cmath>

#include "eval/evaluate.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "numerics/multiplier.h"
#include "passes/pipeline.h"
#include "quant/quantize.h"
#include "quant_random_network.h"

namespace thimble::test {
namespace {

using ir::Op;
using quant::Io;

/// Parses a text and quantizes it with random samples in [-2, 2].
ir::Graph quantized(const std::string& body, quant::QuantizeOptions options = {}) {
  const auto graph = ir::parse("graph @forward {\n" + body + "\n}", "test");
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().message);
  if (!graph) return {};
  const auto model = quant::quantize(*graph, random_calibration(*graph, 1, 8), {}, options);
  EXPECT_TRUE(model.ok()) << (model.ok() ? "" : model.error().message);
  if (!model) return {};
  EXPECT_TRUE(ir::verify(model->graph).ok());
  for (const double db : model->report.output_sqnr_db) EXPECT_GT(db, 20);
  return model->graph;
}

const ir::Quant& quant_of(const ir::Graph& graph, size_t op) {
  return *graph.type(graph.ops()[op].output).quant;
}

constexpr const char* kConv = R"(
    input %x: f32[1,1,4,4]
    const %w: f32[2,1,1,1] = 0x0000803f000000c0
    const %b: f32[2] = 0x0000803f000080bf
    %c: f32[1,2,4,4] = conv2d(%x, %w, %b)
        {stride=[1,1], padding=[0,0,0,0], dilation=[1,1]} at "net.py":3
)";

TEST(QuantizeRules, RecurrentResultRangeIncludesFirstState) {
  // With these weights and biases every result is tanh(1) or -tanh(1). The first state has a larger
  // range.
  const ir::Graph graph = quantized(R"(
    input %x: f32[3,1,2]
    input %h: f32[1,1,2]
    const %w: f32[2,2] = 0x00000000000000000000000000000000
    const %b: f32[2] = 0x0000003f000000bf
    %y: f32[3,1,2] = rnn(%x, %h, %w, %w, %b, %b)
    %z: f32[3,1,2] = add(%y, %h)
    output %z
)");
  double width = 0;
  for (const Op& op : graph.ops()) {
    if (op.kind == ir::OpKind::qrnn) width = graph.type(op.output).quant->scale[0] * 255;
  }
  EXPECT_GT(width, 2);  // 1.53 without the first state
}

TEST(QuantizeRules, ConvolutionHasScalesPerChannelAndIntegerBias) {
  const ir::Graph graph = quantized(std::string(kConv) + "output %c");
  ASSERT_EQ(names_of(graph), "quantize qconv2d dequantize");
  const Op& op = graph.ops()[1];
  const ir::Value& w = graph.value(op.inputs[1]);
  EXPECT_EQ(w.constant->data<int8_t>()[0], 127);
  EXPECT_EQ(w.constant->data<int8_t>()[1], -127);
  EXPECT_EQ(w.type.quant->axis, 0);
  const double s_x = quant_of(graph, 0).scale[0];
  const double s_y = quant_of(graph, 1).scale[0];
  for (size_t c = 0; c < 2; ++c) {
    const double s_w = w.type.quant->scale[c];
    EXPECT_EQ(s_w, static_cast<double>(static_cast<float>((c == 0 ? 1 : 2) / 127.0)));
    const auto multiplier = numerics::quantize_multiplier(s_x * s_w / s_y);
    EXPECT_EQ(graph.value(op.inputs[3]).constant->data<int32_t>()[c], multiplier.mult);
    EXPECT_EQ(graph.value(op.inputs[4]).constant->data<int32_t>()[c], multiplier.shift);
    const double bias = graph.value(op.inputs[2]).constant->data<int32_t>()[c] * s_x * s_w;
    EXPECT_NEAR(bias, c == 0 ? 1 : -1, 0.01);
  }
  EXPECT_EQ(op.source.line, 3);
}

TEST(QuantizeRules, ReluIsFusedAndUsesFullRange) {
  const ir::Graph graph =
      quantized(std::string(kConv) + "%y: f32[1,2,4,4] = clamp(%c) {min=0} output %y");
  ASSERT_EQ(names_of(graph), "quantize qconv2d dequantize");
  EXPECT_EQ(quant_of(graph, 1).zero_point[0], -128);
  EXPECT_EQ(graph.ops()[1].get(ir::attr::min), -128);
  EXPECT_EQ(graph.ops()[1].get(ir::attr::max), 127);
}

TEST(QuantizeRules, Relu6BecomesClampOfProducer) {
  const ir::Graph graph = quantized(
      std::string(kConv) +
      "%y: f32[1,2,4,4] = clamp(%c) {min=0, max=6} %z: f32[1,2,4,4] = clamp(%y) {min=1, max=2}"
      "output %z");
  ASSERT_EQ(names_of(graph), "quantize qconv2d dequantize");
  const Op& op = graph.ops()[1];
  EXPECT_EQ(op.get(ir::attr::max), 127);
  EXPECT_NEAR(static_cast<double>(op.get(ir::attr::min)), -0.5, 0.5);  // 1 is the middle of [0, 2]
}

TEST(QuantizeRules, ClampWithAnotherReaderBecomesTable) {
  const ir::Graph graph =
      quantized(std::string(kConv) + "%y: f32[1,2,4,4] = clamp(%c) {min=0} output %y output %c");
  EXPECT_EQ(names_of(graph), "quantize qconv2d lut dequantize dequantize");
}

TEST(QuantizeRules, MovementSharesParameters) {
  const ir::Graph graph = quantized(R"(
    input %x: f32[1,2,4,4]
    %a: f32[1,2,4,4] = max_pool2d(%x)
        {kernel=[3,3], stride=[1,1], padding=[1,1,1,1], dilation=[1,1]}
    %b: f32[1,2,4,4] = avg_pool2d(%a) {kernel=[3,3], stride=[1,1], padding=[1,1,1,1]}
    %c: f32[2,16] = reshape(%b) {shape=[2,16]}
    %d: f32[16,2] = permute(%c) {dims=[1,0]}
    %e: f32[8,2] = slice(%d) {dim=0, start=0, end=16, step=2}
    %f: f32[8,3] = pad(%e) {before=[0,1], after=[0,0]}
    output %f)");
  ASSERT_EQ(names_of(graph),
            "quantize max_pool2d qavg_pool2d reshape permute slice pad dequantize");
  for (size_t i = 1; i < 7; ++i) EXPECT_EQ(quant_of(graph, i), quant_of(graph, 0));
  EXPECT_EQ(graph.ops()[6].get(ir::attr::value), quant_of(graph, 0).zero_point[0]);
}

TEST(QuantizeRules, RangeIncludesPaddingValue) {
  const ir::Graph graph = quantized(R"(
    input %x: f32[1,4]
    %y: f32[1,5] = pad(%x) {before=[0,1], after=[0,0], value=9}
    output %y)");
  EXPECT_EQ(graph.ops()[1].get(ir::attr::value), 127);
}

TEST(QuantizeRules, ConcatOperandsShareUnlessOneIsMuchSmaller) {
  constexpr const char* kText = R"(
    input %x: f32[1,4]
    input %z: f32[1,4]
    const %tenth: f32[1,4] = 0x{0}{0}{0}{0}
    %s: f32[1,4] = mul(%z, %tenth)
    %y: f32[1,8] = concat(%x, %s) {{dim=1}}
    output %y)";
  const ir::Graph shared = quantized(fmt::format(fmt::runtime(kText), "0000003f"));  // 0.5
  ASSERT_EQ(names_of(shared), "quantize quantize qmul concat dequantize");
  EXPECT_EQ(quant_of(shared, 2), quant_of(shared, 3));
  const ir::Graph apart = quantized(fmt::format(fmt::runtime(kText), "cdcccc3d"));  // 0.1
  ASSERT_EQ(names_of(apart), "quantize quantize qmul lut concat dequantize");
  EXPECT_LT(quant_of(apart, 2).scale[0], 0.25 * quant_of(apart, 4).scale[0]);
  EXPECT_EQ(quant_of(apart, 3), quant_of(apart, 4));
}

TEST(QuantizeRules, FixedParametersOfActivations) {
  const ir::Graph graph = quantized(R"(
    input %x: f32[1,4]
    %a: f32[1,4] = sigmoid(%x)
    %b: f32[1,4] = tanh(%x)
    %c: f32[1,4] = softmax(%x) {dim=1}
    output %a output %b output %c)");
  ASSERT_EQ(names_of(graph), "quantize lut lut qsoftmax dequantize dequantize dequantize");
  EXPECT_EQ(quant_of(graph, 1), ir::per_tensor(1.0 / 256, -128));
  EXPECT_EQ(quant_of(graph, 2), ir::per_tensor(1.0 / 128, 0));
  EXPECT_EQ(quant_of(graph, 3), ir::per_tensor(1.0 / 256, -128));
}

TEST(QuantizeRules, LogSoftmaxUsesCalibratedRange) {
  // LiteRT's fixed scale 16/256 would leave four quantized values for logits that differ by 0.25.
  const ir::Graph graph = quantized(R"(
    input %x: f32[1,4]
    const %small: f32[1] = 0x0000803d
    %s: f32[1,4] = mul(%x, %small)
    %d: f32[1,4] = log_softmax(%s) {dim=1}
    output %d)");
  ASSERT_EQ(names_of(graph), "quantize lut qlog_softmax dequantize");
  EXPECT_LT(quant_of(graph, 2).scale[0], 0.02);
}

TEST(QuantizeRules, ElementwiseChainBecomesOneTable) {
  const ir::Graph graph = quantized(R"(
    input %x: f32[1,4]
    const %three: f32[1] = 0x00004040
    const %sixth: f32[1] = 0xabaa2a3e
    %a: f32[1,4] = add(%x, %three)
    %b: f32[1,4] = clamp(%a) {min=0, max=6}
    %c: f32[1,4] = mul(%sixth, %b)
    %y: f32[1,4] = mul(%x, %c)
    output %y)");  // hardswish
  ASSERT_EQ(names_of(graph), "quantize lut dequantize");
  const auto table = graph.value(graph.ops()[1].inputs[1]).constant->data<int8_t>();
  const ir::Quant& x = quant_of(graph, 0);
  const ir::Quant& y = quant_of(graph, 1);
  for (int code = -128; code < 128; ++code) {
    const double real = (code - x.zero_point[0]) * x.scale[0];
    const double f = real * std::min(std::max(real + 3, 0.0), 6.0) / 6;
    const double expected =
        std::clamp(std::nearbyint(f / y.scale[0]) + y.zero_point[0], -128.0, 127.0);
    EXPECT_NEAR(table[static_cast<size_t>(code + 128)], expected, 1) << code;
  }
}

TEST(QuantizeRules, ArithmeticWithConstants) {
  const ir::Graph graph = quantized(R"(
    input %x: f32[1,2,2]
    const %k: f32[2,1] = 0x0000803f00000040
    %a: f32[1,2,2] = add(%x, %k)
    %s: f32[1,2,2] = sub(%k, %a)
    %m: f32[1,2,2] = mul(%s, %k)
    %y: f32[1,2,2] = clamp(%m) {min=0}
    output %y)");
  ASSERT_EQ(names_of(graph), "quantize qadd qsub qmul dequantize");
  const ir::Value& k = graph.value(graph.ops()[1].inputs[1]);
  EXPECT_EQ(k.type.dtype, ir::DType::kI8);
  EXPECT_EQ(k.constant->data<int8_t>()[1], 127);
  EXPECT_EQ(graph.ops()[3].get(ir::attr::min), graph.ops()[3].get(ir::attr::y_zp));
}

TEST(QuantizeRules, MeanHasItsOwnScale) {
  const ir::Graph graph = quantized(R"(
    input %x: f32[1,2,4,4]
    %y: f32[1,2] = mean(%x) {dims=[2,3]}
    output %y)");
  ASSERT_EQ(names_of(graph), "quantize qmean dequantize");
  EXPECT_LT(quant_of(graph, 1).scale[0], quant_of(graph, 0).scale[0]);
}

TEST(QuantizeRules, EdgesOfTheGraph) {
  constexpr const char* kText = R"(
    input %x: f32[1,2,4,4] order(0,2,3,1)
    input %unused: f32[2]
    %a: f32[1,2,4,4] = tanh(%x)
    %y: f32[1,2,4,4] order(0,2,3,1) = add(%a, %x)
    output %y output %y output %x)";
  const ir::Graph real = quantized(kText);
  // tanh(x) + x is a function of x alone and becomes a table. Each value has one dequantize.
  EXPECT_EQ(names_of(real), "quantize lut dequantize dequantize");
  EXPECT_EQ(real.type(real.inputs()[0]).dim_order, ir::channels_last_order());
  EXPECT_EQ(real.type(real.outputs()[0]).dim_order, ir::channels_last_order());
  EXPECT_EQ(real.value(real.outputs()[0]).name, "y");
  EXPECT_EQ(real.outputs()[0], real.outputs()[1]);
  quant::QuantizeOptions options;
  options.io = Io::kInt8;
  const ir::Graph codes = quantized(kText, options);
  EXPECT_EQ(names_of(codes), "lut");
  const ir::Type& input = codes.type(codes.inputs()[0]);
  EXPECT_EQ(input.dtype, ir::DType::kI8);
  EXPECT_TRUE(input.quant.has_value());
  EXPECT_EQ(codes.type(codes.outputs()[0]).dim_order, ir::channels_last_order());
  EXPECT_TRUE(codes.type(codes.outputs()[0]).quant.has_value());
}

TEST(QuantizeRules, ChannelsWithoutWeightsAndValuesWithoutRange) {
  // Channel 0 has only a bias, channel 1 no weights and no bias, channel 2 denormal weights.
  const ir::Graph graph = quantized(R"(
    input %x: f32[1,2]
    const %w: f32[4,2] = 0x000000000000000000000000000000000100000001000000000080400000803f
    const %b: f32[4] = 0x0000803f000000000000000000000000
    %y: f32[1,4] = linear(%x, %w, %b)
    output %y)");
  ASSERT_EQ(names_of(graph), "quantize qlinear dequantize");
  const double step = quant_of(graph, 1).scale[0];
  for (const auto& [a, b] : {std::pair(0.5F, -0.5F), {-0.5F, 0.25F}, {0.0F, 0.0F}}) {
    const std::vector<float> x = {a, b};
    const auto outputs = eval::evaluate(graph, std::vector{ir::make_f32({1, 2}, x)});
    ASSERT_TRUE(outputs.ok()) << outputs.error().message;
    const auto y = outputs->front().data<float>();
    EXPECT_NEAR(y[0], 1, step);
    EXPECT_EQ(y[1], 0);
    EXPECT_EQ(y[2], 0);
    EXPECT_NEAR(y[3], 4 * a + b, 3 * step);
  }
  const ir::Graph zero = [] {
    const auto text = ir::parse(R"(graph @f {
      input %x: f32[1,2]
      %y: f32[1,2] = sub(%x, %x)
      %z: f32[1,2] = softmax(%y) {dim=1}
      output %z })",
                                "test");
    return quant::quantize(*text, random_calibration(*text, 1, 2), {}, {})->graph;
  }();
  EXPECT_TRUE(ir::verify(zero).ok());
  const std::vector<float> x = {0.75F, -1.5F};
  const auto shares = eval::evaluate(zero, std::vector{ir::make_f32({1, 2}, x)});
  ASSERT_TRUE(shares.ok()) << shares.error().message;
  for (const float share : shares->front().data<float>()) EXPECT_EQ(share, 0.5F);
}

/// Returns the number of multipliers of a linear [8, 2] whose last seven rows are `small`.
int64_t multipliers_of_linear(float small) {
  ir::Graph graph;
  const ir::ValueId x = graph.add_input("x", {ir::DType::kF32, {1, 2}, {}, {}});
  std::vector<float> w = {1, 0.7F};
  for (int row = 1; row < 8; ++row) w.insert(w.end(), {small, -0.3F * small});
  const ir::ValueId weights =
      graph.add_constant("w", std::make_shared<ir::Tensor>(ir::make_f32({8, 2}, w)));
  graph.add_output(*graph.add(ir::OpKind::linear, {x, weights, ir::kNoValue}, {}));
  quant::QuantSpec spec;
  spec.linear_weights = quant::LinearWeights::kPerTensorIfClose;
  const auto model = quant::quantize(graph, random_calibration(graph, 1, 8), spec, {});
  EXPECT_TRUE(model.ok());
  for (const Op& op : model->graph.ops()) {
    if (op.kind != ir::OpKind::qlinear) continue;
    EXPECT_EQ(model->report.per_tensor_linears, model->graph.type(op.inputs[3]).elements() == 1);
    return model->graph.type(op.inputs[3]).elements();
  }
  return 0;
}

TEST(QuantizeRules, LinearUsesOneScaleIfErrorIsSmall) {
  EXPECT_EQ(multipliers_of_linear(0.99F), 1);
  EXPECT_EQ(multipliers_of_linear(0.0117F), 8);  // 1.5 steps of the large row's scale
}

/// The second linear could have one scale at no cost, because only the large row of its result is
/// used. The first linear, with the same weights, could not.
TEST(QuantizeRules, LinearsWithSameWeightsHaveSameScales) {
  ir::Graph graph;
  std::vector<float> w = {1, 0.7F};
  for (int row = 1; row < 8; ++row) w.insert(w.end(), {0.0117F, -0.0035F});
  std::vector<ir::ValueId> results;
  for (const char* name : {"x", "y"}) {
    const ir::ValueId x = graph.add_input(name, {ir::DType::kF32, {1, 2}, {}, {}});
    const ir::ValueId weights =
        graph.add_constant("w", std::make_shared<ir::Tensor>(ir::make_f32({8, 2}, w)));
    results.push_back(*graph.add(ir::OpKind::linear, {x, weights, ir::kNoValue}, {}));
  }
  graph.add_output(results[0]);
  graph.add_output(*graph.add(
      ir::OpKind::slice, {results[1]},
      {{ir::attr::dim, int64_t{1}}, {ir::attr::start, int64_t{0}}, {ir::attr::end, int64_t{1}}}));
  quant::QuantSpec spec;
  spec.linear_weights = quant::LinearWeights::kPerTensorIfClose;
  const auto model = quant::quantize(graph, random_calibration(graph, 1, 8), spec, {});
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->report.per_tensor_linears, 0);
}

/// Weights [256, 256] of random signs. Rows other than the first are `small`.
ir::TensorPtr square_weights(uint32_t seed, float small) {
  constexpr int64_t kSize = 256;
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> w(kSize * kSize);
  for (size_t i = 0; i < w.size(); ++i) w[i] = uniform(random) * (i < kSize ? 1 : small);
  return std::make_shared<ir::Tensor>(ir::make_f32({kSize, kSize}, w));
}

/// Returns the number of multipliers of two linears in a network that is too large for trials. The
/// rows of the second one, other than the first, are `small`.
std::vector<int64_t> multipliers_of_large_network(float small) {
  ir::Graph graph;
  const ir::ValueId x = graph.add_input("x", {ir::DType::kF32, {1, 512, 256}, {}, {}});
  const ir::ValueId a = graph.add_constant("a", square_weights(1, 1));
  const ir::ValueId b = graph.add_constant("b", square_weights(2, small));
  const ir::ValueId y = *graph.add(ir::OpKind::linear, {x, a, ir::kNoValue}, {});
  const ir::ValueId z =
      *graph.add(ir::OpKind::clamp, {y}, {{ir::attr::float_min, 0.0}, {ir::attr::float_max, 1e30}});
  graph.add_output(*graph.add(ir::OpKind::linear, {z, b, ir::kNoValue}, {}));
  quant::QuantSpec spec;
  spec.linear_weights = quant::LinearWeights::kPerTensorIfClose;
  const auto model = quant::quantize(graph, random_calibration(graph, 1, 8), spec, {});
  EXPECT_TRUE(model.ok());
  std::vector<int64_t> multipliers;
  for (const Op& op : model->graph.ops()) {
    if (op.kind != ir::OpKind::qlinear) continue;
    multipliers.push_back(model->graph.type(op.inputs[3]).elements());
  }
  return multipliers;
}

TEST(QuantizeRules, NoiseOfOneScaleIsEstimatedInLargeNetworks) {
  EXPECT_EQ(multipliers_of_large_network(1), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(multipliers_of_large_network(0.0117F), (std::vector<int64_t>{1, 256}));
}

}  // namespace
}  // namespace thimble::test
