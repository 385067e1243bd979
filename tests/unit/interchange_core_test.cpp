// SPDX-License-Identifier: Apache-2.0
// The integer part of a graph, and the memory orders in which its values exist.

#include <gtest/gtest.h>

#include "interchange/integer_graph.h"
#include "interchange/layouts.h"
#include "ir/print.h"

namespace thimble::interchange {
namespace {

ir::Graph graph_of(const std::string& text) {
  auto graph = ir::parse(text, "test.ir");
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().message);
  return graph.ok() ? *graph : ir::Graph();
}

TEST(InterchangeCore, QuantizeAndDequantizeAtBordersAreRemoved) {
  const auto core = extract_integer_graph(graph_of(R"(graph @g {
    input %x: f32[1,4]
    %q: i8[1,4] quant(0.5, 3) = quantize(%x) {scale=0.5, zero_point=3}
    %r: i8[2,2] quant(0.5, 3) = reshape(%q) {shape=[2,2]}
    %y: f32[2,2] = dequantize(%r) {scale=0.5, zero_point=3}
    output %y
  })"));
  ASSERT_TRUE(core.ok()) << core.error().message;
  ASSERT_EQ(core->graph.inputs().size(), 1U);
  const ir::Value& x = core->graph.value(core->graph.inputs()[0]);
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.type.dtype, ir::DType::kI8);
  EXPECT_EQ(x.type.quant, ir::per_tensor(0.5, 3));
  ASSERT_EQ(core->graph.ops().size(), 1U);
  EXPECT_EQ(core->graph.ops()[0].kind, ir::OpKind::reshape);
  EXPECT_EQ(core->graph.type(core->graph.outputs()[0]).dtype, ir::DType::kI8);
}

TEST(InterchangeCore, StatesBecomeInputsAndOutputs) {
  const auto core = extract_integer_graph(graph_of(R"(graph @g {
    input %x: i8[1,2]
    state %s: i8[1,2] = 0x0102
    %y: i8[1,4] = concat(%s, %x) {dim=1}
    output %y
    update %s = %x
  })"));
  ASSERT_TRUE(core.ok()) << core.error().message;
  EXPECT_EQ(core->states, 1U);
  ASSERT_EQ(core->graph.inputs().size(), 2U);
  EXPECT_EQ(core->graph.value(core->graph.inputs()[1]).name, "s");
  ASSERT_EQ(core->graph.outputs().size(), 2U);
  EXPECT_EQ(core->graph.outputs()[1], core->graph.inputs()[0]);
  EXPECT_TRUE(core->graph.states().empty());
}

TEST(InterchangeCore, FloatArithmeticIsRefusedWithLocation) {
  const auto core = extract_integer_graph(graph_of(R"ir(graph @g {
    input %x: f32[1,4]
    %q: i8[1,4] quant(0.5, 3) = quantize(%x) {scale=0.5, zero_point=3}
    %f: f32[1,4] = dequantize(%q) {scale=0.5, zero_point=3}
    %y: f32[1,4] = exp(%f) at "net.py":7 "torch.exp"
    output %y
  })ir"));
  ASSERT_FALSE(core.ok());
  EXPECT_EQ(core.error().kind, ErrorKind::kUnsupported);
  EXPECT_NE(core.error().message.find("in float"), std::string::npos) << core.error().message;
}

/// Counts the requested transpositions and reshapes.
class Counting : public TensorMaker {
 public:
  int transposed(int, const std::vector<int>& perms, const ir::Shape&) override {
    last = perms;
    ++transpositions;
    return next++;
  }
  int reshaped(int, const ir::Shape&) override {
    ++reshapes;
    return next++;
  }
  int constant(const ir::Value&, const ir::DimOrder&) override { return next++; }
  int next = 100, transpositions = 0, reshapes = 0;
  std::vector<int> last;
};

TEST(InterchangeLayouts, TransposesOnceAndOnlyWhereNeeded) {
  const ir::Graph graph = graph_of(R"(graph @g {
    input %x: i8[1,3,4,5]
    %y: i8[1,4,5,3] = permute(%x) {dims=[0,2,3,1]}
    output %y
  })");
  Counting maker;
  Layouts layouts(graph, maker);
  const ir::ValueId x = graph.inputs()[0], y = graph.outputs()[0];
  layouts.put(x, Layouts::image(), 7);
  layouts.alias_permuted(x, y, {0, 2, 3, 1});
  EXPECT_EQ(layouts.get(y, {}), 7);  // the image has the bytes of the permuted value
  EXPECT_EQ(maker.transpositions, 0);
  EXPECT_EQ(layouts.existing(x), Layouts::image());
  const int plain = layouts.get(x, {});
  EXPECT_EQ(layouts.get(x, {}), plain);
  EXPECT_EQ(maker.transpositions, 1);
  EXPECT_EQ(maker.last, (std::vector<int>{0, 3, 1, 2}));
}

TEST(InterchangeLayouts, SameMemoryIsAReshape) {
  const ir::Graph graph = graph_of(R"(graph @g {
    input %x: i8[1,3,1,1]
    output %x
  })");
  Counting maker;
  Layouts layouts(graph, maker);
  layouts.put(graph.inputs()[0], Layouts::image(), 7);
  EXPECT_NE(layouts.get(graph.inputs()[0], {}), 7);
  EXPECT_EQ(maker.transpositions, 0);
  EXPECT_EQ(maker.reshapes, 1);
}

}  // namespace
}  // namespace thimble::interchange
