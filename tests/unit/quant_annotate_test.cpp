// SPDX-License-Identifier: Apache-2.0
// annotate(): roles and shared parameters without calibration data; and pools of graphs that
// PyTorch quantized.

#include "quant/annotate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "ir/print.h"
#include "passes/pipeline.h"
#include "quant/global_mean.h"
#include "quant/quantize.h"

namespace thimble::test {
namespace {

using ir::Graph;

Graph parse(const std::string& body) {
  auto graph = ir::parse("graph @forward {\n" + body + "\n}", "test");
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().message);
  return graph.ok() ? std::move(*graph) : Graph();
}

struct Named {
  std::map<std::string, quant::Annotation> values;
  size_t constants = 0;
};
Named annotate(const std::string& body, const quant::QuantSpec& spec = {}) {
  const auto result = quant::annotate(parse(body), spec);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  Named named;
  if (!result.ok()) return named;
  named.constants = result->constants.size();
  for (const quant::Annotation& value : result->values) {
    named.values[result->graph.value(value.value).name] = value;
  }
  return named;
}

TEST(Annotate, PoolsAndMovementsShareParameters) {
  const Named named = annotate(R"(  input %x: f32[1,2,4,4]
  %pool: f32[1,2,2,2] = max_pool2d(%x) )"
                               "{kernel=[2,2], stride=[2,2], padding=[0,0,0,0], dilation=[1,1]}\n"
                               R"(  %flat: f32[1,8] = reshape(%pool) {shape=[1,8]}
  %y: f32[1,8] = softmax(%flat) {dim=1}
  output %y)");
  ASSERT_EQ(named.values.size(), 4U);
  EXPECT_TRUE(named.values.at("x").has_own_range);
  EXPECT_EQ(named.values.at("x").shares, named.values.at("pool").shares);
  EXPECT_EQ(named.values.at("x").shares, named.values.at("flat").shares);
  EXPECT_FALSE(named.values.at("pool").has_own_range);
  ASSERT_TRUE(named.values.at("y").fixed);
  EXPECT_EQ(named.values.at("y").fixed->scale, 1.0 / 256);
  EXPECT_EQ(named.values.at("y").fixed->zero_point, -128);
}

TEST(Annotate, OperandsOfConcatShareUnlessTheyAreFixed) {
  const Named named = annotate(R"(  input %x: f32[1,4]
  %a: f32[1,4] = mul(%x, %x)
  %b: f32[1,4] = add(%x, %a)
  %s: f32[1,4] = sigmoid(%b)
  %y: f32[1,12] = concat(%a, %b, %s) {dim=1}
  output %y)");
  EXPECT_EQ(named.values.at("y").shares, named.values.at("a").shares);
  EXPECT_EQ(named.values.at("y").shares, named.values.at("b").shares);
  EXPECT_NE(named.values.at("y").shares, named.values.at("s").shares);
  EXPECT_TRUE(named.values.at("s").fixed);
}

TEST(Annotate, OnlyTheEndOfATableIsQuantized) {
  const Named named = annotate(R"(  input %x: f32[1,4]
  %a: f32[1,4] = exp(%x)
  %y: f32[1,4] = sqrt(%a)
  output %y)");
  EXPECT_FALSE(named.values.contains("a"));
  EXPECT_TRUE(named.values.contains("y"));
}

TEST(Annotate, ProductsHaveZeroPointZeroWhereTheNpuRequiresIt) {
  quant::QuantSpec spec;
  spec.symmetric_products = true;
  const std::string body = R"(  input %x: f32[1,4,4]
  %y: f32[1,4,4] = matmul(%x, %x)
  output %y)";
  EXPECT_TRUE(annotate(body, spec).values.at("x").symmetric);
  EXPECT_FALSE(annotate(body, spec).values.at("y").symmetric);
  EXPECT_FALSE(annotate(body).values.at("x").symmetric);
}

TEST(Annotate, ConstantOperandsAreListed) {
  const Named named = annotate(R"(  input %x: f32[1,4]
  const %c: f32[1,4] = 0x0000803f...
  %y: f32[1,4] = add(%x, %c)
  output %y)");
  EXPECT_EQ(named.constants, 1U);
  EXPECT_FALSE(named.values.contains("c"));
}

TEST(Annotate, RefusesWhatPyTorchCannotExpress) {
  const Graph state = parse(R"(  input %x: f32[1,4]
  state %s: f32[1,4] = 0x00000000...
  %y: f32[1,4] = add(%x, %s)
  update %s = %y
  output %y)");
  const auto refused = quant::annotate(state, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kUnsupported);
  EXPECT_NE(refused.error().message.find("state s"), std::string::npos);
}

/// A pool over the whole image. The quantize node after it has the scale 0.5 of the operand, or
/// another one.
std::string pool_between(const std::string& scale) {
  return R"(  input %x: f32[1,2,2,2]
  %q: i8[1,2,2,2] quant(0.5, 0) = quantize(%x) {scale=0.5, zero_point=0}
  %d: f32[1,2,2,2] = dequantize(%q) {scale=0.5, zero_point=0}
  %p: f32[1,2,1,1] = avg_pool2d(%d) {kernel=[2,2], stride=[2,2], padding=[0,0,0,0]}
  %f: f32[1,2] = reshape(%p) {shape=[1,2]}
  %r: i8[1,2] quant()" +
         scale + R"(, 0) = quantize(%f) {scale=)" + scale + R"(, zero_point=0}
  %y: f32[1,2] = dequantize(%r) {scale=)" +
         scale + R"(, zero_point=0}
  output %y)";
}

bool has_mean(const Graph& graph) {
  return std::ranges::any_of(graph.ops(),
                             [](const ir::Op& op) { return op.kind == ir::OpKind::mean; });
}

TEST(Annotate, PoolWithParametersOfItsOwnBecomesMean) {
  const auto other = quant::pools_to_means(parse(pool_between("0.25")), true);
  ASSERT_TRUE(other.ok());
  EXPECT_TRUE(has_mean(*other));
  const auto same = quant::pools_to_means(parse(pool_between("0.5")), true);
  ASSERT_TRUE(same.ok());
  EXPECT_FALSE(has_mean(*same));
}

/// Thimble's operators and ExecuTorch's compute the same integers of a quantized program: one that
/// runs partly on an NPU and partly with ExecuTorch's operators is equal to Thimble's own program.
TEST(Annotate, PoolWithParametersOfItsOwnRoundsOnceInEachDialect) {
  for (const bool own_means : {false, true}) {
    quant::QuantSpec spec;
    spec.own_means = own_means;
    const auto quantized = quant::quantize(parse(pool_between("0.25")), {}, spec, {});
    ASSERT_TRUE(quantized.ok()) << quantized.error().message;
    const auto counts = [&](ir::OpKind kind) {
      return std::ranges::count_if(quantized->graph.ops(),
                                   [&](const ir::Op& op) { return op.kind == kind; });
    };
    EXPECT_EQ(counts(ir::OpKind::qmean), 1) << own_means;
    EXPECT_EQ(counts(ir::OpKind::qavg_pool2d) + counts(ir::OpKind::lut), 0) << own_means;
  }
}

}  // namespace
}  // namespace thimble::test
