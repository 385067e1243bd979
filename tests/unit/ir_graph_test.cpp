// SPDX-License-Identifier: Apache-2.0
// Factories and the rewriter. tests/text/ops tests which operators and attributes are accepted.

#include "ir/graph.h"

#include <gtest/gtest.h>

#include "ir/print.h"

namespace thimble::ir {
namespace {

const Type kFloats{DType::kF32, {2, 3}, {}, {}};

TEST(Graph, NamesBecomeUnique) {
  Graph graph;
  const ValueId a = graph.add_input("x", kFloats);
  const ValueId b = graph.add_input("x", kFloats);
  const ValueId c = graph.add_input("x_1", kFloats);
  const ValueId d = graph.add_input("x", kFloats);
  EXPECT_EQ(graph.value(a).name, "x");
  EXPECT_EQ(graph.value(b).name, "x_1");
  EXPECT_EQ(graph.value(c).name, "x_1_1");
  EXPECT_EQ(graph.value(d).name, "x_2");
  const auto sum = graph.add(OpKind::add, {a, b}, {});
  ASSERT_TRUE(sum.ok());
  EXPECT_EQ(graph.value(*sum).name, "add");
}

TEST(Graph, AttributesAreNormalized) {
  Graph graph;
  const ValueId x = graph.add_input("x", kFloats);
  // Attributes get the row's order, defaults are dropped, integers become floats where required.
  const auto y = graph.add(OpKind::clamp, {x},
                           {{ir::attr::float_max, int64_t{6}}, {ir::attr::float_min, -HUGE_VAL}});
  ASSERT_TRUE(y.ok());
  const Op& op = graph.ops().back();
  EXPECT_EQ(op.attrs, Attrs({{ir::attr::float_max, 6.0}}));
  EXPECT_EQ(op.get(ir::attr::float_min), -HUGE_VAL);
  EXPECT_EQ(op.get(ir::attr::float_max), 6.0);
  const auto mean = graph.add(OpKind::mean, {x}, {{ir::attr::dims, std::vector<int64_t>{1}}});
  ASSERT_TRUE(mean.ok());
  EXPECT_EQ(graph.ops().back().get(ir::attr::keepdim), 0);
  EXPECT_EQ(graph.ops().back().get(ir::attr::dims), std::vector<int64_t>{1});
}

TEST(Graph, ErrorsAreLocatedInTheUsersSource) {
  Graph graph;
  const ValueId x = graph.add_input("x", {DType::kI8, {2}, {}, {}});
  Source source;
  source.module = "head.act";
  EXPECT_EQ(graph.add(OpKind::tanh, {x}, {}, source).error().message,
            "head.act: tanh: x (%x) is i8[2], expected f32");
  source.file = "net.py";
  EXPECT_EQ(graph.add(OpKind::tanh, {x}, {}, source).error().message,
            "net.py: tanh: x (%x) is i8[2], expected f32");
  source.line = 31;
  EXPECT_EQ(graph.add(OpKind::tanh, {x}, {}, source).error().message,
            "net.py:31: tanh: x (%x) is i8[2], expected f32");
  EXPECT_EQ(graph.add(OpKind::tanh, {x}, {}).error().message,
            "tanh: x (%x) is i8[2], expected f32");
  EXPECT_TRUE(graph.ops().empty());
  EXPECT_EQ(graph.value_count(), 1U);
}

TEST(Graph, ResultUsesOrderAndQuantizationOfHint) {
  Graph graph;
  const ValueId x = graph.add_input("x", {DType::kI8, {2, 3}, {}, per_tensor(0.5, 3)});
  const auto copy = graph.add(OpKind::copy, {x}, {}, {}, {"y", DimOrder{1, 0}, {}});
  ASSERT_TRUE(copy.ok());
  EXPECT_EQ(graph.type(*copy), (Type{DType::kI8, {2, 3}, {1, 0}, per_tensor(0.5, 3)}));
  // Order (0,1) is contiguous, which is always stored as an empty order.
  const auto plain = graph.add(OpKind::copy, {*copy}, {}, {}, {"y", DimOrder{0, 1}, {}});
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(graph.type(*plain), graph.type(x));
  const auto changed = graph.add(OpKind::copy, {x}, {}, {}, {"y", {}, per_tensor(0.25, 3)});
  EXPECT_EQ(changed.error().message,
            "copy: the result has the quantization of its operand or attributes, which differs "
            "from the given one");
  const auto order = graph.add(OpKind::copy, {x}, {}, {}, {"y", channels_last_order(), {}});
  EXPECT_EQ(order.error().message, "copy: order(0,2,3,1) is not a permutation of 2 dimensions");
}

TEST(Graph, ProducersAndConsumers) {
  Graph graph;
  const ValueId x = graph.add_input("x", kFloats);
  const ValueId square = *graph.add(OpKind::mul, {x, x}, {});
  const ValueId y = *graph.add(OpKind::add, {square, x}, {});
  graph.add_output(y);
  EXPECT_EQ(graph.producers(), (std::vector<int>{-1, 0, 1}));
  EXPECT_EQ(graph.consumers(), (std::vector<std::vector<int>>{{0, 0, 1}, {1}, {}}));
  EXPECT_TRUE(graph.is_input(x));
  EXPECT_FALSE(graph.is_input(y));
}

TEST(Rewriter, ReplacesAnOperator) {
  const auto from = parse(R"(graph @g {
    input %x: f32[2]
    const %c: f32[2] order(0) = 0x0000803f...
    %a = add(%x, %c)
    %b = tanh(%a)
    %d = add(%b, %c)
    output %d
  })",
                          "test");
  ASSERT_TRUE(from.ok()) << from.error().message;
  Rewriter rewriter(*from);
  for (const Op& op : from->ops()) {
    if (op.kind != OpKind::tanh) {
      ASSERT_TRUE(rewriter.copy(op).ok());
      continue;
    }
    const auto y = rewriter.to().add(OpKind::sigmoid, rewriter.map(op.inputs), {}, op.source,
                                     {rewriter.from().value(op.output).name, {}, {}});
    ASSERT_TRUE(y.ok());
    rewriter.set(op.output, *y);
  }
  EXPECT_EQ(print(rewriter.finish()), R"(graph @g {
  input %x: f32[2]
  const %c: f32[2] = 0x0000803f0000803f
  %a: f32[2] = add(%x, %c)
  %b: f32[2] = sigmoid(%a)
  %d: f32[2] = add(%b, %c)
  output %d
}
)");
}

}  // namespace
}  // namespace thimble::ir
