// SPDX-License-Identifier: Apache-2.0
#include "passes/fold_batch_norm.h"

#include "passes_support.h"

namespace thimble::test {
namespace {

using passes::fold_batch_norm;

// Hexadecimal constants are little-endian float32. 1 = 0000803f, 2 = 00000040, -1 = 000080bf.
constexpr const char* kConv = R"(
  graph @forward {
    input %x: f32[1,1,3,3]
    const %w: f32[2,1,1,1] = 0x0000803f000080bf
    const %scale: f32[2] = 0x000000400000803f
    const %shift: f32[2] = 0x000000000000803f
)";
constexpr const char* kWindow = "{stride=[1,1], padding=[0,0,0,0], dilation=[1,1]}";

std::string with_conv(const std::string& rest) {
  return kConv + ("%c: f32[1,2,3,3] = conv2d(%x, %w, _) " + std::string(kWindow)) +
         " at \"net.py\":7 \"self.conv(x)\"\n" + rest + "}";
}

TEST(FoldBatchNorm, FoldsIntoWeightsAndBias) {
  const ir::Graph graph =
      run_pass(fold_batch_norm,
               with_conv("%y: f32[1,2,3,3] = batch_norm(%c, %scale, %shift)\n output %y\n"));
  ASSERT_EQ(op_names(graph), "conv2d");
  const ir::Op& op = graph.ops()[0];
  const auto w = graph.value(op.inputs[1]).constant->data<float>();
  const auto b = graph.value(op.inputs[2]).constant->data<float>();
  EXPECT_EQ(w[0], 2.0F);
  EXPECT_EQ(w[1], -1.0F);
  EXPECT_EQ(b[0], 0.0F);
  EXPECT_EQ(b[1], 1.0F);
  EXPECT_EQ(op.source.line, 7);
  EXPECT_EQ(graph.value(op.output).name, "y");
}

TEST(FoldBatchNorm, IntoTransposedConvolution) {
  const ir::Graph graph = run_pass(fold_batch_norm, R"(
    graph @forward {
      input %x: f32[1,4,1,1]
      const %w: f32[4,2,1,1] = 0x0000803f000000400000803f00000040)"
                                                    R"(000080bf0000803f000080bf0000803f
      const %scale: f32[4] = 0x000000400000803f000080bf00000040
      const %shift: f32[4] = 0x00000000000000000000803f00000040
      %c: f32[1,4,1,1] = conv_transpose2d(%x, %w, _)
          {stride=[1,1], padding=[0,0,0,0], output_padding=[0,0], dilation=[1,1], groups=2}
      %y: f32[1,4,1,1] = batch_norm(%c, %scale, %shift)
      output %y
    })");
  ASSERT_EQ(op_names(graph), "conv_transpose2d");
  const ir::Op& op = graph.ops()[0];
  // Outputs 0 and 1 depend on inputs 0 and 1, outputs 2 and 3 on inputs 2 and 3.
  EXPECT_EQ(*graph.value(op.inputs[1]).constant,
            ir::make_f32({4, 2, 1, 1}, std::vector<float>{2, 2, 2, 2, 1, 2, 1, 2}));
  EXPECT_EQ(*graph.value(op.inputs[2]).constant, ir::make_f32({4}, std::vector<float>{0, 0, 1, 2}));
}

TEST(FoldBatchNorm, AChainOfChannelArithmeticFolds) {
  const ir::Graph graph = run_pass(fold_batch_norm, with_conv(R"(
    const %m: f32[1,2,1,1] = 0x000000400000803f
    const %a: f32[2,1,1] = 0x0000803f000080bf
    const %s: f32[1] = 0x00000040
    %n: f32[1,2,3,3] = batch_norm(%c, %scale, %shift)
    %p: f32[1,2,3,3] = mul(%m, %n)
    %q: f32[1,2,3,3] = add(%p, %a)
    %r: f32[1,2,3,3] = sub(%s, %q)
    output %r
  )"));
  EXPECT_EQ(op_names(graph), "conv2d");
}

TEST(FoldBatchNorm, IsNotFoldedIfValueHasAnotherReader) {
  const ir::Graph graph = run_pass(fold_batch_norm, with_conv(R"(
    %y: f32[1,2,3,3] = batch_norm(%c, %scale, %shift)
    output %y
    output %c
  )"));
  EXPECT_EQ(op_names(graph), "conv2d conv2d");
}

TEST(FoldBatchNorm, ConstantVaryingWithinPlaneIsNotFolded) {
  const ir::Graph graph = run_pass(fold_batch_norm, with_conv(R"(
    const %a: f32[1,1,1,3] = 0x0000803f000080bf0000803f
    %y: f32[1,2,3,3] = add(%c, %a)
    output %y
  )"));
  EXPECT_EQ(op_names(graph), "conv2d add");
}

TEST(FoldBatchNorm, AloneBecomesDepthwiseConvolution) {
  const auto alone = [](const std::string& shape, const std::string& behind) {
    return run_pass(fold_batch_norm, "graph @forward { input %x: f32" + shape + R"(
      const %scale: f32[2] = 0x000000400000803f
      const %shift: f32[2] = 0x000000000000803f
      const %m: f32[2,1,1] = 0x00000040000080bf
      %y: f32)" + shape + " = batch_norm(%x, %scale, %shift)\n" +
                                         behind + "}");
  };
  const ir::Graph image = alone("[3,2,2,4]", "output %y");
  ASSERT_EQ(op_names(image), "conv2d");
  EXPECT_EQ(image.ops()[0].get(ir::attr::groups), 2);
  EXPECT_EQ(op_names(alone("[3,2,2,4]", "%z: f32[3,2,2,4] = mul(%m, %y) output %z")), "conv2d");
  EXPECT_EQ(op_names(alone("[3,2]", "output %y")), "reshape conv2d reshape");
  EXPECT_EQ(op_names(alone("[3,2,5]", "output %y")), "reshape conv2d reshape");
  EXPECT_EQ(op_names(alone("[1,2,2,3,2]", "output %y")), "reshape conv2d reshape");
}

TEST(FoldBatchNorm, NonConstantParametersBecomeMulAndAdd) {
  const ir::Graph graph = run_pass(fold_batch_norm, R"(
    graph @forward {
      input %x: f32[3,2]
      input %scale: f32[2]
      const %shift: f32[2] = 0x000000000000803f
      %y: f32[3,2] = batch_norm(%x, %scale, %shift)
      output %y
    })");
  EXPECT_EQ(op_names(graph), "reshape mul add");
}

TEST(FoldBatchNorm, IntoLinearOfRankTwoOnly) {
  constexpr const char* kLinear = R"(
      const %w: f32[2,2] = 0x0000803f000080bf000080bf00000040
      const %b: f32[2] = 0x0000803f000080bf
      const %scale: f32[2] = 0x000000400000803f
      const %shift: f32[2] = 0x000000000000803f
  )";
  const ir::Graph folded =
      run_pass(fold_batch_norm, std::string("graph @f { input %x: f32[3,2]") + kLinear + R"(
      %c: f32[3,2] = linear(%x, %w, %b)
      %y: f32[3,2] = batch_norm(%c, %scale, %shift)
      output %y })");
  EXPECT_EQ(op_names(folded), "linear");
  // For rank 3, the channel dimension of batch_norm differs from that of linear.
  const ir::Graph kept =
      run_pass(fold_batch_norm, std::string("graph @f { input %x: f32[3,2,2]") + kLinear + R"(
      %c: f32[3,2,2] = linear(%x, %w, %b)
      %y: f32[3,2,2] = batch_norm(%c, %scale, %shift)
      output %y })");
  EXPECT_EQ(op_names(kept), "linear reshape conv2d reshape");
}

}  // namespace
}  // namespace thimble::test
