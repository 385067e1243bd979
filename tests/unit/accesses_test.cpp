// SPDX-License-Identifier: Apache-2.0
// Bytes that calls access, with numbers calculated by hand: how often weights and inputs are read.

#include "memory/accesses.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ir/print.h"

namespace thimble::memory {
namespace {

/// A core whose kernels reuse data differently for each kind of operator.
engine::Core core() {
  engine::Core core{};
  core.reuse.dense = {2, 4};
  core.reuse.depthwise = {4, 2};
  core.reuse.linear = {2, 3};
  return core;
}

/// Returns the accesses of the graph's operator: first of its operands, then of its result.
std::vector<int64_t> bytes_of(const std::string& inputs, const std::string& op) {
  auto graph =
      ir::parse("graph @forward {\n" + inputs + "  %y = " + op + "\n  output %y\n}\n", "test.ir");
  EXPECT_TRUE(graph.ok()) << graph.error().message;
  if (!graph.ok()) return {};
  engine::Lowered lowered;
  lowered.graph = std::move(*graph);
  engine::KernelCall call;
  call.ir_op = 0;
  const ir::Op& only = lowered.graph.ops()[0];
  call.out = only.output;
  for (const ir::ValueId operand : only.inputs) {
    if (operand != ir::kNoValue) call.arguments.emplace_back(engine::ValueRef{operand});
  }
  const Accesses found = accesses_of(lowered, call, core());
  std::vector<int64_t> all = found.arguments;
  all.push_back(found.out);
  return all;
}

using Bytes64 = std::vector<int64_t>;

TEST(Accesses, MatrixProduct) {
  // 192 products read as many elements of 4 bytes; the second factor is read for each of 4 rows.
  EXPECT_EQ(bytes_of("  input %a: f32[4,8]\n  input %b: f32[8,6]\n", "matmul(%a, %b)"),
            (Bytes64{768, 768, 96}));
}

TEST(Accesses, Linear) {
  // 240 products, 3 for each element that is loaded; the weights are read once for two of 5 rows.
  EXPECT_EQ(bytes_of("  input %x: f32[5,8]\n  input %w: f32[6,8]\n", "linear(%x, %w, _)"),
            (Bytes64{320, 576, 120}));
}

TEST(Accesses, Convolutions) {
  const std::string window = "{stride=[1,1], padding=[0,0,0,0], dilation=[1,1], groups=";
  // 1,152 products, 4 for each element; 16 pixels, two for each pass over the weights.
  EXPECT_EQ(bytes_of("  input %x: f32[1,2,6,6]\n  input %w: f32[4,2,3,3]\n",
                     "conv2d(%x, %w, _) " + window + "1}"),
            (Bytes64{1152, 2304, 256}));
  // 288 products, 2 for each element; 16 pixels, 4 for each pass.
  EXPECT_EQ(bytes_of("  input %x: f32[1,2,6,6]\n  input %w: f32[2,1,3,3]\n",
                     "conv2d(%x, %w, _) " + window + "2}"),
            (Bytes64{576, 288, 128}));
}

TEST(Accesses, RecurrentLayer) {
  // 3 steps of 45 products, 2 for each element; each step reads all weights.
  EXPECT_EQ(bytes_of("  input %x: f32[3,1,4]\n  input %h: f32[1,1,5]\n  input %i: f32[5,4]\n"
                     "  input %w: f32[5,5]\n",
                     "rnn(%x, %h, %i, %w, _, _)"),
            (Bytes64{268, 60, 240, 300, 60}));
}

TEST(Accesses, OthersReadOnce) {
  EXPECT_EQ(bytes_of("  input %a: f32[4,8]\n  input %b: f32[4,8]\n", "add(%a, %b)"),
            (Bytes64{128, 128, 128}));
  // One window of 4 elements for each result.
  EXPECT_EQ(
      bytes_of("  input %x: f32[1,2,6,6]\n",
               "max_pool2d(%x) {kernel=[2,2], stride=[1,1], padding=[0,0,0,0], dilation=[1,1]}"),
      (Bytes64{800, 200}));
}

}  // namespace
}  // namespace thimble::memory
