// SPDX-License-Identifier: Apache-2.0
#include "passes/fold_matmul.h"
#include "passes_support.h"

namespace thimble::test {
namespace {

using passes::fold_matmul;

const ir::Op& matmul_of(const ir::Graph& graph) {
  for (const ir::Op& op : graph.ops()) {
    if (op.kind == ir::OpKind::matmul) return op;
  }
  ADD_FAILURE() << "no matmul in " << op_names(graph);
  std::abort();
}

ir::Graph folded(const std::string& body) {
  return run_pass(fold_matmul, R"(graph @forward {
    input %a: f32[2,3,4]
    input %b: f32[2,5,4]
    const %half: f32[] = 0x0000003f
    const %two: f32[1] = 0x00000040
    const %minus: f32[] = 0x000080bf
  )" + body + "\n}");
}

TEST(FoldMatmul, ScalesBeforeAndAfterAreMerged) {
  const ir::Graph graph = folded(R"(
    %q: f32[2,3,4] = mul(%a, %half)
    %s: f32[2,5,4] = mul(%two, %b)
    %t: f32[2,5,4] = mul(%s, %two)
    %k: f32[2,4,5] = permute(%t) {dims=[0,2,1]}
    %m: f32[2,3,5] = matmul(%q, %k) {scale=3}
    %n: f32[2,3,5] = mul(%m, %half)
    %y: f32[2,3,5] = mul(%n, %half)
    output %y)");
  EXPECT_EQ(op_names(graph), "matmul");
  EXPECT_EQ(matmul_of(graph).get(ir::attr::scale), 1.5);
  EXPECT_EQ(matmul_of(graph).get(ir::attr::transpose_b), 1);
}

TEST(FoldMatmul, TransposedOperandTogglesTransposeB) {
  const ir::Graph graph = folded(R"(
    %k: f32[2,4,5] = permute(%b) {dims=[0,2,1]}
    %y: f32[2,5,5] = matmul(%b, %k) {transpose_b=0}
    %t: f32[2,4,3] = permute(%a) {dims=[0,2,1]}
    %u: f32[2,4,3] = permute(%a) {dims=[0,2,1]}
    %z: f32[2,4,4] = matmul(%t, %u) {transpose_b=1}
    output %y
    output %z)");
  EXPECT_EQ(op_names(graph), "matmul permute matmul");
  EXPECT_EQ(graph.ops()[0].get(ir::attr::transpose_b), 1);
  EXPECT_EQ(graph.ops()[2].get(ir::attr::transpose_b), 0);
}

TEST(FoldMatmul, ValuesWithOtherReadersAreNotFolded) {
  EXPECT_EQ(op_names(folded(R"(
    %q: f32[2,3,4] = mul(%a, %half)
    %k: f32[2,4,5] = permute(%b) {dims=[0,2,1]}
    %m: f32[2,3,5] = matmul(%q, %k)
    %y: f32[2,3,5] = mul(%m, %two)
    output %q
    output %k
    output %m
    output %y)")),
            "mul permute matmul mul");
}

TEST(FoldMatmul, NegativeAndLargeFactorsAreNotFolded) {
  EXPECT_EQ(op_names(folded(R"(
    const %many: f32[1,1,1,1] = 0x00000040
    %q: f32[2,3,4] = mul(%a, %minus)
    %m: f32[2,3,5] = matmul(%q, %b) {transpose_b=1}
    %y: f32[1,2,3,5] = mul(%m, %many)
    output %y)")),
            "mul matmul mul");
}

TEST(FoldMatmul, OtherPermutesAreNotFolded) {
  EXPECT_EQ(op_names(folded(R"(
    %k: f32[4,2,5] = permute(%b) {dims=[2,0,1]}
    %l: f32[4,2,3] = permute(%a) {dims=[2,0,1]}
    %y: f32[4,2,2] = matmul(%k, %k) {transpose_b=1}
    %z: f32[4,2,2] = matmul(%l, %l) {transpose_b=1}
    output %y
    output %z)")),
            "permute permute matmul matmul");
}

}  // namespace
}  // namespace thimble::test
