// SPDX-License-Identifier: Apache-2.0
// The verifier on graphs that were damaged after their factories accepted them.

#include "ir/verify.h"

#include <gtest/gtest.h>

#include "ir/print.h"

namespace thimble::ir {
namespace {

Graph example() {
  auto graph = parse(R"(graph @g {
    input %x: f32[2]
    const %c: f32[2] = 0x0000803f...
    %a = add(%x, %c)
    %q = quantize(%a) {scale=0.5, zero_point=0}
    %b = clamp(%a) {min=0} at "net.py":7
    output %b
    output %q
  })",
                     "example");
  return *std::move(graph);
}

std::string message(const Graph& graph) {
  const auto status = verify(graph);
  return status.ok() ? "" : status.error().message;
}

TEST(Verify, AcceptsWhatTheFactoriesMade) {
  EXPECT_EQ(message(example()), "");
}

TEST(Verify, Order) {
  Graph graph = example();
  std::swap(graph.ops()[0], graph.ops()[1]);
  EXPECT_EQ(message(graph), "quantize: %a is used before it is defined");
}

TEST(Verify, MissingDefinition) {
  Graph graph = example();
  graph.ops().pop_back();
  EXPECT_EQ(message(graph), "output %b is never defined");
}

TEST(Verify, DoubleDefinition) {
  Graph graph = example();
  graph.ops()[2].output = graph.ops()[0].output;
  EXPECT_EQ(message(graph), "net.py:7: clamp: %a is defined twice");
}

TEST(Verify, ConstantIsNoResult) {
  Graph graph = example();
  graph.ops()[2].output = 1;
  EXPECT_EQ(message(graph), "net.py:7: clamp: %c is defined twice");
}

TEST(Verify, Ids) {
  Graph graph = example();
  graph.ops()[2].inputs[0] = 99;
  EXPECT_EQ(message(graph), "net.py:7: clamp: operand 99 does not exist");
  graph = example();
  graph.ops()[2].inputs[0] = kNoValue;
  EXPECT_EQ(message(graph), "net.py:7: clamp: operand x is absent");
  graph = example();
  graph.ops()[2].output = -7;
  EXPECT_EQ(message(graph), "net.py:7: clamp: the result is value -7, which does not exist");
  graph = example();
  graph.outputs()[0] = 99;
  EXPECT_EQ(message(graph), "output 99 does not exist");
}

TEST(Verify, Attributes) {
  Graph graph = example();
  graph.ops()[2].attrs.set_value(ir::attr::float_min, int64_t{0});
  EXPECT_EQ(message(graph), "net.py:7: clamp: attributes are not in their normal form");
  graph.ops()[2].attrs.set(ir::attr::scale, 0.0);
  EXPECT_EQ(message(graph), "net.py:7: clamp: unknown attribute scale");
}

TEST(Verify, Types) {
  Graph graph = example();
  graph.value(graph.ops()[2].output).type.shape = {3};
  EXPECT_EQ(message(graph), "net.py:7: clamp: the result %b is f32[3], expected f32[2]");
  graph = example();
  graph.value(graph.ops()[2].output).type.shape = {0};
  EXPECT_EQ(message(graph), "%b: f32[0] has a size below 1");
  graph = example();
  graph.value(graph.ops()[1].output).type.quant.reset();
  EXPECT_EQ(
      message(graph),
      "quantize: the quantization of the result %q differs from that of its operand or attributes");
}

TEST(Verify, Names) {
  Graph graph = example();
  graph.value(graph.ops()[2].output).name = "x";
  EXPECT_EQ(message(graph), "two values are named %x");
}

TEST(Verify, ConstantData) {
  Graph graph = example();
  graph.value(1).type.shape = {3};
  EXPECT_EQ(message(graph), "constant %c is f32[3], its data is f32[2] in 8 bytes");
}

}  // namespace
}  // namespace thimble::ir
