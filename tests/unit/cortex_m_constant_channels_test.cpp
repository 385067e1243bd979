// A layer in which every sum of one channel is requantized to the zero point keeps its packed form,
// although the shift of this channel is larger than the form supports.

#include <gtest/gtest.h>

#include <cstring>

#include "abi/matmul_scalar.h"
#include "abi/pte_ops.h"
#include "engines/cortex_m/compiler/fast.h"
#include "ir/print.h"

namespace thimble::engine::cortex_m {
namespace {

/// A convolution of two channels with multiplier 2^30; `shift` is that of the second one.
ir::Graph graph_with(const std::string& shift) {
  auto graph = ir::parse(
      "graph @forward {\n"
      "  input %x: i8[1,4,8,8]\n"
      "  const %w: i8[2,4,3,3] = 0x05...\n"
      "  const %b: i32[2] = 0x0100000001000000\n"
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

/// Returns the multiplier of the second channel, or nothing if the packed form does not fit.
std::optional<int32_t> multiplier(const std::string& shift) {
  const ir::Graph graph = graph_with(shift);
  const std::optional<KernelCall> call = thumb1_conv2d(graph, graph.ops().front());
  if (!call) return {};
  EXPECT_EQ(call->op, abi::PteOp::thimble_conv2d_scalar);
  abi::ScalarChannel channel;
  const auto& constant = std::get<Constant>(call->arguments[2]);
  std::memcpy(&channel, constant.bytes->data() + sizeof channel, sizeof channel);
  return channel.mult;
}

TEST(ConstantChannels, LayerKeepsThePackedForm) {
  EXPECT_EQ(multiplier("f7ffffff"), 1 << 30);  // -9
  EXPECT_EQ(multiplier("e3ffffff"), 0);        // -29
}

TEST(ConstantChannels, BoundOfTheSumsDecides) {
  // The sum is at most 539 + 128 * 180 = 23579, its product with 2^30 half of it.
  // It is requantized to 0 if it is less than half of 2^shift.
  EXPECT_EQ(multiplier("f2ffffff"), 1 << 30);  // -14: half is 8192
  EXPECT_EQ(multiplier("f1ffffff"), 0);        // -15: half is 16384
}

}  // namespace
}  // namespace thimble::engine::cortex_m
