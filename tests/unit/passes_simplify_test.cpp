// SPDX-License-Identifier: Apache-2.0
#include "passes/fold_constants.h"
#include "passes/hoist_clamp.h"
#include "passes/mask_exp.h"
#include "passes/merge_pad.h"
#include "passes/multiply_by_reciprocal.h"
#include "passes/remove_noops.h"
#include "passes_support.h"

namespace thimble::test {
namespace {

using namespace passes;

std::string graph_text(const std::string& body) {
  return "graph @forward {\n" + body + "\n}";
}

TEST(FoldConstants, ChainsOfConstantsAreComputed) {
  const ir::Graph graph = run_pass(fold_constants, graph_text(R"(
    input %x: f32[2]
    const %a: f32[2] = 0x0000803f00000040
    const %b: f32[1] = 0x00000040
    %c: f32[2] = add(%a, %b)
    %d: f32[2] = mul(%c, %b)
    %y: f32[2] = mul(%x, %d)
    output %y)"));
  EXPECT_EQ(op_names(graph), "mul");
  EXPECT_EQ(graph.value(graph.ops()[0].inputs[1]).constant->data<float>()[1], 8.0F);
}

TEST(FoldConstants, LargeExpandIsNotFolded) {
  const ir::Graph graph = run_pass(fold_constants, graph_text(R"(
    const %a: f32[1] = 0x0000803f
    %y: f32[100000] = expand(%a) {shape=[100000]}
    output %y)"));
  EXPECT_EQ(op_names(graph), "expand");
}

TEST(MergePad, ZerosBecomePaddingOfEveryReader) {
  const ir::Graph graph = run_pass(merge_pad, graph_text(R"(
    input %x: f32[1,1,4,4]
    const %w: f32[1,1,3,3] = 0x0000803f...
    %p: f32[1,1,7,6] = pad(%x) {before=[0,0,1,0], after=[0,0,2,2]}
    %a: f32[1,1,5,4] = conv2d(%p, %w, _) {stride=[1,1], padding=[0,0,0,0], dilation=[1,1]}
    %b: f32[1,1,4,3] = conv2d(%p, %w, _) {stride=[2,2], padding=[1,1,1,1], dilation=[1,1]}
    output %a
    output %b)"));
  EXPECT_EQ(op_names(graph), "conv2d conv2d");
  EXPECT_EQ(graph.ops()[0].get(ir::attr::padding), (std::vector<int64_t>{1, 0, 2, 2}));
  EXPECT_EQ(graph.ops()[1].get(ir::attr::padding), (std::vector<int64_t>{2, 1, 3, 3}));
}

TEST(MergePad, OtherValuesChannelsAndPoolsAreNotMerged) {
  EXPECT_EQ(op_names(run_pass(merge_pad, graph_text(R"(
    input %x: f32[1,1,4,4]
    const %w: f32[1,1,1,1] = 0x0000803f
    %p: f32[1,1,6,6] = pad(%x) {before=[0,0,1,1], after=[0,0,1,1], value=1}
    %a: f32[1,1,6,6] = conv2d(%p, %w, _) {stride=[1,1], padding=[0,0,0,0], dilation=[1,1]}
    output %a)"))),
            "pad conv2d");
  EXPECT_EQ(op_names(run_pass(merge_pad, graph_text(R"(
    input %x: f32[1,1,4,4]
    const %w: f32[1,2,1,1] = 0x0000803f0000803f
    %p: f32[1,2,4,4] = pad(%x) {before=[0,1,0,0], after=[0,0,0,0]}
    %a: f32[1,1,4,4] = conv2d(%p, %w, _) {stride=[1,1], padding=[0,0,0,0], dilation=[1,1]}
    output %a)"))),
            "pad conv2d");
  EXPECT_EQ(op_names(run_pass(merge_pad, graph_text(R"(
    input %x: f32[1,1,4,4]
    %p: f32[1,1,6,6] = pad(%x) {before=[0,0,1,1], after=[0,0,1,1]}
    %a: f32[1,1,5,5] = max_pool2d(%p)
        {kernel=[2,2], stride=[1,1], padding=[0,0,0,0], dilation=[1,1]}
    output %a)"))),
            "pad max_pool2d");
}

TEST(RemoveNoops, RemovesEveryKindOfNoOp) {
  const ir::Graph graph = run_pass(remove_noops, graph_text(R"(
    input %x: f32[2,3]
    %a: f32[2,3] = copy(%x)
    %b: f32[2,3] = reshape(%a) {shape=[2,3]}
    %c: f32[2,3] = permute(%b) {dims=[0,1]}
    %d: f32[2,3] = slice(%c) {dim=1, start=0, end=3}
    %e: f32[2,3] = concat(%d) {dim=0}
    %f: f32[2,3] = expand(%e) {shape=[2,3]}
    %g: f32[2,3] = pad(%f) {before=[0,0], after=[0,0]}
    %y: f32[2,3] = tanh(%g)
    output %y)"));
  EXPECT_EQ(op_names(graph), "tanh");
}

TEST(RemoveNoops, DataMovementChainsAreMerged) {
  const ir::Graph graph = run_pass(remove_noops, graph_text(R"(
    input %x: f32[2,3,4]
    %a: f32[6,4] = reshape(%x) {shape=[6,4]}
    %b: f32[24] = reshape(%a) {shape=[24]}
    %p: f32[3,4,2] = permute(%x) {dims=[1,2,0]}
    %q: f32[2,4,3] = permute(%p) {dims=[2,1,0]}
    output %b
    output %q)"));
  ASSERT_EQ(op_names(graph), "reshape permute");
  EXPECT_EQ(graph.ops()[1].get(ir::attr::dims), (std::vector<int64_t>{0, 2, 1}));
}

TEST(RemoveNoops, InverseDataMovementsAreRemoved) {
  const ir::Graph graph = run_pass(remove_noops, graph_text(R"(
    input %x: f32[2,3]
    %p: f32[3,2] = permute(%x) {dims=[1,0]}
    %q: f32[2,3] = permute(%p) {dims=[1,0]}
    %r: f32[6] = reshape(%q) {shape=[6]}
    %s: f32[2,3] = reshape(%r) {shape=[2,3]}
    %y: f32[2,3] = tanh(%s)
    output %y)"));
  EXPECT_EQ(op_names(graph), "tanh");
}

TEST(RemoveNoops, ASliceOfAConcatenationReadsItsOperand) {
  const ir::Graph graph = run_pass(remove_noops, graph_text(R"(
    input %x: f32[2,3]
    input %y: f32[2,4]
    %c: f32[2,7] = concat(%x, %y) {dim=1}
    %a: f32[2,3] = slice(%c) {dim=1, start=0, end=3}
    %b: f32[2,2] = slice(%c) {dim=1, start=4, end=7, step=2}
    %d: f32[2,2] = slice(%c) {dim=1, start=2, end=4}
    %e: f32[1,7] = slice(%c) {dim=0, start=0, end=1}
    output %a
    output %b
    output %d
    output %e)"));
  ASSERT_EQ(op_names(graph), "concat slice slice slice");
  EXPECT_EQ(graph.outputs()[0], graph.inputs()[0]);
  const ir::Op& part = graph.ops()[1];
  EXPECT_EQ(part.inputs[0], graph.inputs()[1]);
  EXPECT_EQ(part.get(ir::attr::start), 1);
  EXPECT_EQ(part.get(ir::attr::end), 4);
  // These have elements of both operands.
  EXPECT_EQ(graph.ops()[2].inputs[0], graph.ops()[0].output);
  EXPECT_EQ(graph.ops()[3].inputs[0], graph.ops()[0].output);
}

TEST(RemoveNoops, AnOutputKeepsItsMemoryOrder) {
  const ir::Graph moved = run_pass(remove_noops, graph_text(R"(
    input %x: f32[1,2,3,4]
    %a: f32[1,2,3,4] = tanh(%x)
    %y: f32[1,2,3,4] order(0,2,3,1) = copy(%a)
    output %y)"));
  EXPECT_EQ(op_names(moved), "tanh");  // tanh gets the memory order of the removed copy
  const ir::Graph kept = run_pass(remove_noops, graph_text(R"(
    input %x: f32[1,2,3,4]
    %y: f32[1,2,3,4] order(0,2,3,1) = copy(%x)
    output %y)"));
  EXPECT_EQ(op_names(kept), "copy");  // the memory order of an input must not change
}

TEST(MultiplyByReciprocal, ConstantsWithSeveralElements) {
  // The divisors 2, 4 and 0, 4.
  const ir::Graph graph = run_pass(multiply_by_reciprocal, graph_text(R"(
    input %x: f32[3,2]
    const %c: f32[2] = 0x0000004000008040
    const %zero: f32[2] = 0x0000000000008040
    const %one: f32[1] = 0x00000040
    %a: f32[3,2] = div(%x, %c)
    %b: f32[3,2] = div(%a, %zero)
    %d: f32[3,2] = div(%a, %one)
    %e: f32[3,2] = div(%c, %a)
    output %b
    output %d
    output %e)"));
  EXPECT_EQ(op_names(graph), "mul div div div");
  EXPECT_EQ(graph.value(graph.ops()[0].output).name, "a");
}

TEST(MaskExp, InfinityBeforeTheFunctionBecomesZeroAfterIt) {
  const std::string text = graph_text(R"(
    input %x: f32[2,2]
    input %m: bool[2,2]
    const %low: f32[] = 0x000080ff
    const %one: f32[] = 0x0000803f
    %a: f32[2,2] = where(%m, %low, %x)
    %b: f32[2,2] = exp(%a)
    %c: f32[2,2] = where(%m, %x, %low)
    %d: f32[2,2] = exp(%c)
    %e: f32[2,2] = where(%m, %one, %x)
    %f: f32[2,2] = exp(%e)
    output %b
    output %d
    output %f)");
  const ir::Graph graph = run_pass(mask_exp, text);
  EXPECT_EQ(op_names(graph), "where exp where where exp where where exp");
  EXPECT_EQ(graph.value(graph.results()[0]).name, "b");
}

TEST(HoistClamp, MovesBeforePoolsAndDataMovement) {
  const ir::Graph graph = run_pass(hoist_clamp, graph_text(R"(
    input %x: f32[1,1,4,4]
    const %w: f32[1,1,1,1] = 0x0000803f
    %c: f32[1,1,4,4] = conv2d(%x, %w, _) {stride=[1,1], padding=[0,0,0,0], dilation=[1,1]}
    %p: f32[1,1,2,2] = max_pool2d(%c)
        {kernel=[2,2], stride=[2,2], padding=[0,0,0,0], dilation=[1,1]}
    %r: f32[1,4] = reshape(%p) {shape=[1,4]}
    %y: f32[1,4] = clamp(%r) {min=0}
    output %y)"));
  EXPECT_EQ(op_names(graph), "conv2d clamp max_pool2d reshape");
}

/// A relu after a concat moves to each branch, if all branches can fuse it.
TEST(HoistClamp, MovesBeforeConcatOfArithmetic) {
  const std::string branches = R"(
    input %x: f32[1,1,4,4]
    const %w: f32[1,1,1,1] = 0x0000803f
    %a: f32[1,1,4,4] = conv2d(%x, %w, _) {stride=[1,1], padding=[0,0,0,0], dilation=[1,1]}
    %b: f32[1,1,4,4] = mul(%x, %x)
    %m: f32[1,1,4,4] = copy(%x)
    %c: f32[1,2,4,4] = concat(%a, OTHER) {dim=1}
    %y: f32[1,2,4,4] = clamp(%c) {min=0}
    output %y)";
  const auto with = [&](const std::string& other) {
    std::string text = branches;
    return op_names(run_pass(hoist_clamp, graph_text(text.replace(text.find("OTHER"), 5, other))));
  };
  EXPECT_EQ(with("%b"), "conv2d clamp mul clamp concat");
  EXPECT_EQ(with("%m"), "conv2d copy concat clamp");
  EXPECT_EQ(with("%a"), "conv2d concat clamp");
}

TEST(HoistClamp, IsNotMovedPastAnotherReader) {
  const ir::Graph graph = run_pass(hoist_clamp, graph_text(R"(
    input %x: f32[1,4]
    %c: f32[1,4] = add(%x, %x)
    %r: f32[2,2] = reshape(%c) {shape=[2,2]}
    %y: f32[2,2] = clamp(%r) {min=0}
    output %y
    output %r)"));
  EXPECT_EQ(op_names(graph), "add reshape clamp");
}

}  // namespace
}  // namespace thimble::test
