// SPDX-License-Identifier: Apache-2.0
// Quantization of whole formulas (as tables), comparisons, choices and quotients, on small graphs.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "eval/evaluate.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/pipeline.h"
#include "quant/quantize.h"
#include "quant_random_network.h"

namespace thimble::test {
namespace {

using ir::Op;
using ir::OpKind;

/// Runs the float passes and quantizes with random samples in [-2, 2].
ir::Graph quantized(const std::string& body) {
  const auto prepared = passes::run_float_passes(parsed(body));
  EXPECT_TRUE(prepared.ok()) << (prepared.ok() ? "" : prepared.error().message);
  if (!prepared) return {};
  const auto model = quant::quantize(*prepared, random_calibration(*prepared, 1, 8), {}, {});
  EXPECT_TRUE(model.ok()) << (model.ok() ? "" : model.error().message);
  if (!model) return {};
  EXPECT_TRUE(ir::verify(model->graph).ok());
  return model->graph;
}

ir::Tensor ramp(const ir::Shape& shape, float low, float high) {
  ir::Tensor x = ir::zeros(ir::DType::kF32, shape);
  const auto values = x.data<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = low + (high - low) * static_cast<float>(i) / static_cast<float>(values.size() - 1);
  }
  return x;
}

ir::Tensor evaluated(const ir::Graph& graph, const std::vector<ir::Tensor>& inputs) {
  auto outputs = eval::evaluate(graph, inputs);
  EXPECT_TRUE(outputs.ok()) << (outputs.ok() ? "" : outputs.error().message);
  return outputs.ok() ? (*outputs)[0] : ir::Tensor{};
}

TEST(QuantizeChoices, FormulaOfOneValueBecomesOneTable) {
  // hardshrink followed by a sine, written with elementary operators.
  const ir::Graph graph = quantized(R"(
    input %x: f32[4,16]
    const %half: f32[] = 0x0000003f
    const %zero: f32[1] = 0x00000000
    %a: f32[4,16] = abs(%x)
    %m: bool[4,16] = compare(%a, %half) {relation=4}
    %n: bool[4,16] = logical_not(%m)
    %h: f32[4,16] = where(%n, %zero, %x)
    %s: f32[4,16] = sin(%h)
    %q: f32[4,16] = div(%s, %half)
    %y: f32[4,16] = maximum(%q, %x)
    output %y)");
  ASSERT_EQ(names_of(graph), "quantize lut dequantize");
  const ir::Tensor x = ramp({4, 16}, -2, 2);
  const ir::Tensor y = evaluated(graph, {x});
  for (size_t i = 0; i < 64; ++i) {
    const double value = static_cast<double>(x.data<float>()[i]);
    if (std::abs(std::abs(value) - 0.5) < 0.02) continue;  // depends on the quantized value
    const double wanted = std::max(std::abs(value) > 0.5 ? std::sin(value) * 2 : 0, value);
    if (std::abs(value) > 1.9) continue;  // outside the calibrated range
    EXPECT_NEAR(static_cast<double>(y.data<float>()[i]), wanted, 0.05) << value;
  }
}

TEST(QuantizeChoices, SharedConditionIsAlsoComputed) {
  const ir::Graph graph = quantized(R"(
    input %x: f32[4,16]
    const %half: f32[] = 0x0000003f
    %e: f32[4,16] = exp(%x)
    %m: bool[4,16] = compare(%e, %half) {relation=2}
    %y: f32[4,16] = where(%m, %x, %half)
    output %y
    output %m)");
  EXPECT_EQ(names_of(graph), "quantize lut compare lut dequantize");
}

TEST(QuantizeChoices, ComparisonWithConstantUsesQuantizedThreshold) {
  const ir::Tensor x = ramp({1, 4001}, -2, 2);
  for (int64_t relation = 0; relation < 6; ++relation) {
    for (const double limit : {-9.0, -2.0, -0.337, 0.0, 0.6, 1.3, 9.0}) {
      for (const bool mirrored : {false, true}) {
        ir::Graph source;
        const auto input = source.add_input("x", {ir::DType::kF32, {1, 4001}, {}, {}});
        const auto number =
            source.add_constant("limit", std::make_shared<ir::Tensor>(ir::make_f32(
                                             {}, std::vector<float>{static_cast<float>(limit)})));
        const auto y =
            mirrored
                ? source.add(OpKind::compare, {number, input}, {{ir::attr::relation, relation}})
                : source.add(OpKind::compare, {input, number}, {{ir::attr::relation, relation}});
        ASSERT_TRUE(y.ok());
        source.add_output(*y);
        const auto model = quant::quantize(source, random_calibration(source, 1, 8), {}, {});
        ASSERT_TRUE(model.ok()) << model.error().message;
        ASSERT_EQ(names_of(model->graph), "quantize compare");
        // Compares with dequantized values; for = and !=, with the nearest quantized value.
        const ir::Type& type = model->graph.type(model->graph.ops()[0].output);
        const ir::Tensor got = evaluated(model->graph, {x});
        const double scale = type.quant->scale[0];
        const auto nearest = [&](double value) {
          const double code = std::nearbyint(value / scale) + type.quant->zero_point[0];
          return (std::clamp(code, -128.0, 127.0) - type.quant->zero_point[0]) * scale;
        };
        for (size_t i = 0; i < 4001; ++i) {
          const double real = nearest(static_cast<double>(x.data<float>()[i]));
          const double other =
              relation < 2 ? nearest(limit) : static_cast<double>(static_cast<float>(limit));
          const double a = mirrored ? other : real;
          const double b = mirrored ? real : other;
          const bool wanted[] = {a == b, a != b, a<b, a <= b, a> b, a >= b};
          ASSERT_EQ(got.data<uint8_t>()[i] != 0, wanted[relation])
              << relation << " " << limit << " " << real << (mirrored ? " mirrored" : "");
        }
      }
    }
  }
}

TEST(QuantizeChoices, ComparedValuesShareOneScale) {
  const ir::Graph graph = quantized(R"(
    input %x: f32[4,16]
    input %z: f32[4,16]
    const %three: f32[] = 0x00004040
    %w: f32[4,16] = mul(%z, %three)
    %m: bool[4,16] = compare(%x, %w) {relation=2}
    output %m)");
  ASSERT_EQ(names_of(graph), "quantize quantize lut lut compare");
  const Op& op = graph.ops().back();
  EXPECT_EQ(graph.type(op.inputs[0]).quant, graph.type(op.inputs[1]).quant);
}

TEST(QuantizeChoices, UnselectedOperandSaturates) {
  // The result is in [0, 1], the first operand in [-20, 20]: the result keeps its own scale.
  const ir::Graph graph = quantized(R"(
    input %x: f32[4,16]
    input %z: f32[4,16]
    const %ten: f32[1,16] = 0x00002041...
    const %half: f32[1,16] = 0x0000003f...
    const %one: f32[1,16] = 0x0000803f...
    %a: f32[4,16] = mul(%x, %ten)
    %b: f32[4,16] = mul(%z, %half)
    %c: f32[4,16] = clamp(%b) {min=0}
    %y: f32[4,16] = minimum(%a, %c)
    %k: f32[4,16] = maximum(%y, %c)
    output %k
    output %a)");
  const auto& ops = graph.ops();
  const auto choice = std::ranges::find(ops, OpKind::maximum, &Op::kind);
  ASSERT_NE(choice, ops.end()) << ir::print(graph);
  EXPECT_LT(graph.type(choice->output).quant->scale[0], 1.2 / 255);
}

TEST(QuantizeChoices, ConstantsOfProductsMustBeFinite) {
  const ir::Graph graph = parsed(R"(
    input %x: f32[2,2]
    const %m: f32[2] = 0x000000000000807f
    %y: f32[2,2] = mul(%x, %m) at "net.py":7
    output %y)");
  const auto model = quant::quantize(graph, random_calibration(graph, 1, 2), {}, {});
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.error().kind, ErrorKind::kUnsupported);
  EXPECT_NE(model.error().message.find("one of its constants is not finite"), std::string::npos)
      << model.error().message;
  EXPECT_NE(model.error().message.find("net.py:7"), std::string::npos);
}

TEST(QuantizeQuotients, QuotientsAndPreluSlopes) {
  const ir::Graph graph = quantized(R"(
    input %x: f32[4,16]
    input %z: f32[4,16]
    const %one: f32[] = 0x0000803f
    const %w: f32[4,1] = 0x0000803e0000003f000000bf0000803f
    %d: f32[4,16] = abs(%z)
    %e: f32[4,16] = add(%d, %one)
    %q: f32[4,16] = div(%x, %e)
    %r: f32[4,16] = clamp(%q) {min=-0.5}
    %p: f32[4,16] = prelu(%r, %w)
    output %p)");
  ASSERT_EQ(names_of(graph), "quantize quantize lut qdiv qprelu dequantize");
  const ir::Tensor x = ramp({4, 16}, -1.8F, 1.8F);  // quotients in the calibrated range
  const ir::Tensor z = ramp({4, 16}, 1.9F, 0.5F);
  const ir::Tensor y = evaluated(graph, {x, z});
  const double slopes[] = {0.25, 0.5, -0.5, 1};
  for (size_t i = 0; i < 64; ++i) {
    const double quotient = std::max(-0.5, static_cast<double>(x.data<float>()[i]) /
                                               (1 + static_cast<double>(z.data<float>()[i])));
    const double wanted = quotient < 0 ? quotient * slopes[i / 16] : quotient;
    EXPECT_NEAR(static_cast<double>(y.data<float>()[i]), wanted, 0.03) << i;
  }
}

}  // namespace
}  // namespace thimble::test
