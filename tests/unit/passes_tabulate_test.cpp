// SPDX-License-Identifier: Apache-2.0
#include "passes/tabulate.h"

#include "passes_support.h"

namespace thimble::test {
namespace {

// The angles of a rotary embedding, of 3 positions.
constexpr const char* kAngles = R"(graph @forward {
    input %p: i64[1]
    input %x: f32[1,2]
    const %n: f32[3] = 0x000000000000803f00000040
    const %f: f32[1,2] = 0x0000803f0000003f
    %a: f32[1] = gather(%n, %p) {dim=0}
    %b: f32[1,1] = reshape(%a) {shape=[1,1]}
    %c: f32[1,2] = mul(%b, %f)
    %d: f32[1,2] = cos(%c)
    %e: f32[1,2] = sin(%c)
    %s: f32[1,2] = add(%d, %e)
    %t: f32[2] = reshape(%s) {shape=[2]}
    %y: f32[1,2] = mul(%x, %s)
    %z: f32[1,2] = sub(%y, %t)
    output %z
})";

std::vector<float> outputs_at(const ir::Graph& graph, int64_t position) {
  ir::Tensor p = ir::zeros(ir::DType::kI64, {1});
  p.data<int64_t>()[0] = position;
  const std::vector<float> x = {2, -3};
  const std::vector<ir::Tensor> inputs = {p, ir::make_f32({1, 2}, x)};
  const auto outputs = eval::evaluate(graph, inputs);
  EXPECT_TRUE(outputs.ok());
  const auto values = (*outputs)[0].data<float>();
  return {values.begin(), values.end()};
}

TEST(Tabulate, FunctionsOfOnePositionBecomeOneTable) {
  const ir::Graph before = parsed(kAngles);
  const auto after = passes::tabulate(before);
  ASSERT_TRUE(after.ok());
  const ir::Graph graph = ir::remove_unused(*after);
  EXPECT_EQ(op_names(graph), "reshape gather reshape mul sub");
  EXPECT_EQ(graph.type(graph.ops()[1].inputs[0]).shape, (ir::Shape{3, 1, 2}));
  for (const int64_t position : {0, 1, 2, -1, -9, 7}) {
    EXPECT_EQ(outputs_at(graph, position), outputs_at(before, position)) << position;
  }
}

TEST(Tabulate, OperandsCanBeAbsent) {
  // Without a bias: one layer is a function of the position, the other reads an input.
  const ir::Graph before = parsed(R"(graph @forward {
    input %p: i64[1]
    input %x: f32[1,1]
    const %n: f32[3] = 0x000000000000803f00000040
    const %w: f32[2,1] = 0x0000803f0000003f
    %a: f32[1] = gather(%n, %p) {dim=0}
    %b: f32[1,1] = reshape(%a) {shape=[1,1]}
    %c: f32[1,2] = linear(%b, %w, _)
    %d: f32[1,2] = linear(%x, %w, _)
    %y: f32[1,2] = mul(%c, %d)
    output %y
})");
  const auto after = passes::tabulate(before);
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(op_names(ir::remove_unused(*after)), "reshape gather linear mul");
}

TEST(Tabulate, AnEmbeddingIsNoFunctionOfAPosition) {
  const ir::Graph before = parsed(R"(graph @forward {
    input %p: i64[1]
    const %n: f32[2,2] = 0x0000803f...
    %a: f32[1,2] = gather(%n, %p) {dim=0}
    %y: f32[1,2] = cos(%a)
    output %y
})");
  const auto after = passes::tabulate(before);
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(op_names(*after), "gather cos");
}

TEST(Tabulate, TwoPositionsHaveNoCommonTable) {
  const ir::Graph before = parsed(R"(graph @forward {
    input %p: i64[1]
    input %q: i64[1]
    const %n: f32[2] = 0x000000000000803f
    %a: f32[1] = gather(%n, %p) {dim=0}
    %b: f32[1] = gather(%n, %q) {dim=0}
    %y: f32[1] = add(%a, %b)
    output %y
})");
  const auto after = passes::tabulate(before);
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(op_names(*after), "gather gather add");
}

}  // namespace
}  // namespace thimble::test
