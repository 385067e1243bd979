// SPDX-License-Identifier: Apache-2.0
// regularize_groups: equal results of random convolutions with groups, and the forms that remain.

#include "engines/cortex_m/compiler/conv_groups.h"

#include "engines/cortex_m/compiler/pack.h"
#include "passes_support.h"

namespace thimble::engine::cortex_m {
namespace {

using abi::Isa;
using ir::OpKind;
using ir::ValueId;

struct Sizes {
  int64_t groups, in, out, kernel, image;  // channels of a group
  bool has_bias = true, has_one_scale = false;
};

ir::Graph conv(const Sizes& sizes, uint64_t seed) {
  test::Random random(seed);
  ir::Graph graph;
  const auto constant = [&](const char* name, ir::Tensor tensor) {
    return graph.add_constant(name, std::make_shared<const ir::Tensor>(std::move(tensor)));
  };
  const int64_t channels = sizes.groups * sizes.out;
  const auto scales = static_cast<size_t>(sizes.has_one_scale ? 1 : channels);
  std::vector<int32_t> mult(scales), shift(scales);
  for (size_t i = 0; i < scales; ++i) {
    mult[i] = static_cast<int32_t>((1 << 30) + 1000 * i);
    shift[i] = -7 - static_cast<int32_t>(i % 2);
  }
  const auto count = static_cast<int64_t>(scales);
  const ValueId x = graph.add_input("x", {ir::DType::kI8,
                                          {1, sizes.groups * sizes.in, sizes.image, sizes.image},
                                          {},
                                          ir::per_tensor(0.1, -3)});
  const ir::Quant weight_scales = {std::vector<double>(static_cast<size_t>(channels), 0.01),
                                   std::vector<int32_t>(static_cast<size_t>(channels), 0), 0};
  const ir::Shape w_shape = {channels, sizes.in, sizes.kernel, sizes.kernel};
  const ValueId w = graph.add_constant(
      "w", std::make_shared<const ir::Tensor>(test::random_tensor(random, ir::DType::kI8, w_shape)),
      weight_scales);
  std::vector<int32_t> bias(static_cast<size_t>(channels));
  for (size_t i = 0; i < bias.size(); ++i) bias[i] = static_cast<int32_t>(37 * i) - 500;
  const ValueId b = sizes.has_bias ? constant("b", ir::make_i32({channels}, bias)) : ir::kNoValue;
  const int64_t pad = sizes.kernel / 2;
  const auto y = graph.add(OpKind::qconv2d,
                           {x, w, b, constant("m", ir::make_i32({count}, mult)),
                            constant("s", ir::make_i32({count}, shift))},
                           {{ir::attr::stride, {1, 2}},
                            {ir::attr::padding, {pad, pad, pad, pad}},
                            {ir::attr::dilation, {1, 1}},
                            {ir::attr::groups, sizes.groups},
                            {ir::attr::x_zp, int64_t{-3}},
                            {ir::attr::y_zp, int64_t{5}},
                            {ir::attr::min, int64_t{-100}},
                            {ir::attr::max, int64_t{120}}},
                           {}, {"y", {}, ir::per_tensor(0.2, 5)});
  EXPECT_TRUE(y.ok()) << (y.ok() ? "" : y.error().message);
  if (y.ok()) graph.add_output(*y);
  return graph;
}

/// Returns the graph after the pass. Its results must be the same.
ir::Graph regularized(const Sizes& sizes, Isa isa, uint64_t seed = 1) {
  const ir::Graph before = conv(sizes, seed);
  auto after = regularize_groups(before, isa);
  EXPECT_TRUE(after.ok()) << (after.ok() ? "" : after.error().message);
  if (!after.ok()) return {};
  EXPECT_TRUE(ir::verify(*after).ok());
  EXPECT_EQ(test::largest_difference(before, *after, seed), 0) << ir::print(*after);
  EXPECT_EQ(before.type(before.outputs()[0]), after->type(after->outputs()[0]));
  const auto parsed = ir::parse(ir::print(*after), "x.ir");
  EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message);
  return std::move(*after);
}

TEST(ConvGroups, GroupsOfSeveralChannelsAreSplit) {
  for (const Isa isa : {Isa::kThumb1, Isa::kThumb2, Isa::kDsp, Isa::kMve}) {
    EXPECT_EQ(test::op_names(regularized({2, 4, 8, 3, 16}, isa)),
              "slice qconv2d slice qconv2d concat");
  }
}

TEST(ConvGroups, SmallOrManyGroupsStay) {
  EXPECT_EQ(test::op_names(regularized({2, 2, 2, 1, 4}, Isa::kMve)), "qconv2d");
  EXPECT_EQ(test::op_names(regularized({64, 4, 4, 3, 16}, Isa::kMve)), "qconv2d");
  EXPECT_EQ(test::op_names(regularized({1, 4, 4, 3, 16}, Isa::kMve)), "qconv2d");
}

TEST(ConvGroups, DepthwiseWithMultiplierRepeatsChannels) {
  for (const Isa isa : {Isa::kThumb1, Isa::kThumb2, Isa::kDsp, Isa::kMve}) {
    EXPECT_EQ(test::op_names(regularized({8, 1, 2, 3, 8}, isa)),
              "permute reshape expand reshape permute qconv2d");
  }
}

TEST(ConvGroups, DepthwiseHasWholeBlocksWhereKernelsNeedThem) {
  for (const Isa isa : {Isa::kDsp, Isa::kMve}) {
    EXPECT_EQ(test::op_names(regularized({18, 1, 1, 3, 8}, isa)), "pad qconv2d slice");
  }
  EXPECT_EQ(test::op_names(regularized({18, 1, 1, 3, 8}, Isa::kThumb1)), "qconv2d");
  EXPECT_EQ(test::op_names(regularized({16, 1, 1, 3, 8}, Isa::kMve)), "qconv2d");
  // The copies of few channels cost more than the kernel saves.
  EXPECT_EQ(test::op_names(regularized({6, 1, 1, 3, 8}, Isa::kDsp)), "qconv2d");
  EXPECT_EQ(test::op_names(regularized({6, 1, 1, 3, 8}, Isa::kMve)), "pad qconv2d slice");
  EXPECT_EQ(test::op_names(regularized({6, 1, 1, 3, 3}, Isa::kMve)), "qconv2d");
}

TEST(ConvGroups, RandomSizesHaveTheSameResults) {
  test::Random random(7);
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const auto up_to = [&](int64_t most) { return random.between(1, most); };
    Sizes sizes{up_to(9), up_to(3), up_to(3), 1 + 2 * (up_to(3) - 1), 6 + up_to(12)};
    sizes.has_bias = up_to(2) == 1;
    sizes.has_one_scale = up_to(4) == 1;
    for (const Isa isa : {Isa::kThumb1, Isa::kMve}) {
      SCOPED_TRACE(fmt::format("seed {}", seed));
      const ir::Graph graph = regularized(sizes, isa, seed);
      for (const ir::Op& op : graph.ops()) {
        if (op.kind != OpKind::qconv2d || !is_depthwise(graph, op)) continue;
        EXPECT_EQ(graph.type(op.inputs[0]).shape[1], graph.type(op.output).shape[1]);
      }
    }
  }
}

}  // namespace
}  // namespace thimble::engine::cortex_m
