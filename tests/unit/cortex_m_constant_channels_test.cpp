// SPDX-License-Identifier: Apache-2.0
// A layer with a channel whose result is the same for all inputs keeps its packed form, although
// the shift of this channel is larger than the form supports.

#include <gtest/gtest.h>

#include <cstring>

#include "abi/matmul_scalar.h"
#include "abi/pte_ops.h"
#include "engines/cortex_m/compiler/fast.h"
#include "ir/print.h"

namespace thimble::engine::cortex_m {
namespace {

/// A convolution of two channels with multiplier 2^30; shift and bias are those of the second one.
ir::Graph graph_with(const std::string& shift, const std::string& bias) {
  auto graph = ir::parse(
      "graph @forward {\n"
      "  input %x: i8[1,4,8,8]\n"
      "  const %w: i8[2,4,3,3] = 0x05...\n"
      "  const %b: i32[2] = 0x01000000" +
          bias +
          "\n"
          "  const %m: i32[2] = 0x0000004000000040\n"
          "  const %s: i32[2] = 0xf8ffffff" +
          shift +
          "\n"
          "  %y = qconv2d(%x, %w, %b, %m, %s) {stride=[1,1], padding=[1,1,1,1], dilation=[1,1], "
          "x_zp=3, y_zp=-3, min=-128, max=127}\n"
          "  output %y\n"
          "}\n",
      "test.ir");
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().message);
  return std::move(*graph);
}

/// Returns the record of the second channel, or nothing if the packed form does not fit.
std::optional<abi::ScalarChannel> record(const std::string& shift, const std::string& bias) {
  const ir::Graph graph = graph_with(shift, bias);
  const std::optional<KernelCall> call = thumb1_conv2d(graph, graph.ops().front());
  if (!call) return {};
  EXPECT_EQ(call->op, abi::PteOp::thimble_conv2d_scalar);
  abi::ScalarChannel channel;
  const auto& constant = std::get<Constant>(call->arguments[2]);
  std::memcpy(&channel, constant.bytes->data() + sizeof channel, sizeof channel);
  return channel;
}

TEST(ConstantChannels, SmallScaleKeepsThePackedForm) {
  // The sum is at most 539 + 128 * 180 = 23579, its product with 2^30 half of it.
  const auto channel = record("e3ffffff", "01000000");  // shift -29
  ASSERT_TRUE(channel);
  EXPECT_EQ(channel->shift, 7);
  EXPECT_EQ(channel->bias, 0);
}

TEST(ConstantChannels, LargeBiasGivesTheResult) {
  // 2^28 / 2 / 2^25 = 4, for all inputs.
  const auto channel = record("e7ffffff", "00000010");  // shift -25
  ASSERT_TRUE(channel);
  EXPECT_EQ(channel->shift, 7);
  EXPECT_EQ(channel->bias, 4 * 256);
}

TEST(ConstantChannels, ChannelThatDependsOnItsInputsStays) {
  const auto usual = record("f8ffffff", "01000000");  // shift -8
  ASSERT_TRUE(usual);
  EXPECT_EQ(usual->shift, 8);
  // Near a half of 2^24, sums are rounded in both directions, and the form does not support -24.
  EXPECT_FALSE(record("e8ffffff", "00000001"));
}

}  // namespace
}  // namespace thimble::engine::cortex_m
