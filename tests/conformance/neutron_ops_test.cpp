// SPDX-License-Identifier: Apache-2.0
// Tests that the Neutron's kernel lists compute the bytes of the reference evaluator: each kernel
// alone, networks of many kernels, and subgraphs that the partition cuts out of random graphs.
//
//   THIMBLE_NEUTRON_SEED=17 neutron_ops_test --gtest_filter='*Random*'   repeats one network
//   THIMBLE_NEUTRON_SEEDS=5000                                           runs 5000, not 400

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>

#include "ir/print.h"
#include "neutron_cases.h"
#include "partition/partition.h"
#include "random_integer_graph.h"

namespace thimble {
namespace {

using ir::OpKind;
using ir::ValueId;
using test::NeutronNet;
using test::NeutronOutcome;
using test::Random;
using Make = std::function<ValueId(NeutronNet&)>;

/// A kernel, and a subgraph whose kernel list contains it.
struct Single {
  std::string name;
  Make make;
  std::string kernel;
  int64_t count = -1;  // expected number of kernels; -1: any
  bool bare = false;   // skips the legalizer, which would change the subgraph
};

void PrintTo(const Single& single, std::ostream* out) {
  *out << single.name;
}

ir::Shape image(Random& r) {
  return {r.chance(80) ? 1 : 2, r.between(1, 17), r.between(3, 9), r.between(3, 9)};
}
std::vector<int64_t> two(Random& r, int64_t low, int64_t high) {
  const int64_t first = r.between(low, high);
  return {first, r.between(low, high)};
}
std::vector<int64_t> four(Random& r, int64_t high) {
  const auto a = two(r, 0, high), b = two(r, 0, high);
  return {a[0], a[1], b[0], b[1]};
}

Make on_image(const std::function<ValueId(NeutronNet&, ValueId)>& f) {
  return [=](NeutronNet& n) { return f(n, n.input(image(n.random))); };
}
Make on_matrix(const std::function<ValueId(NeutronNet&, ValueId)>& f) {
  return [=](NeutronNet& n) {
    return f(n, n.input({n.random.between(1, 5), n.random.between(1, 40)}));
  };
}
/// Puts a convolution before `f`, so that the operand of `f` is a value in the NPU's scratch.
Make after_conv(const std::function<ValueId(NeutronNet&, ValueId)>& f) {
  return on_image([=](NeutronNet& n, ValueId x) {
    return f(n, n.conv(x, n.random.between(1, 12), two(n.random, 1, 3)));
  });
}
Make pair_of(const std::function<ValueId(NeutronNet&, ValueId, ValueId)>& f) {
  return on_image([=](NeutronNet& n, ValueId x) {
    ir::Shape other = n.shape(x);
    for (int64_t& size : other) size = n.random.chance(20) ? 1 : size;
    const ValueId b = n.random.chance(30) ? n.constant(other) : n.input(other);
    return n.random.chance(80) ? f(n, x, b) : f(n, b, x);
  });
}

const std::vector<Single> kSingles = {
    {"Conv", on_image([](NeutronNet& n, ValueId x) {
       Random& r = n.random;
       const auto kernel = two(r, 2, 3);
       return n.conv(x, r.between(1, 17), kernel, two(r, 1, 3), four(r, 1), {1, 1}, r.chance(60));
     }),
     "Conv2DStandard", 1},
    {"ConvDilated", on_image([](NeutronNet& n, ValueId x) {
       return n.conv(x, 5, {2, 2}, {1, 1}, {1, 0, 1, 1}, two(n.random, 1, 2));
     }),
     "Conv2DStandard", 1},
    {"ConvPointwise", on_image([](NeutronNet& n, ValueId x) {
       return n.conv(x, n.random.between(1, 20), {1, 1}, two(n.random, 1, 2));
     }),
     "Conv2DPointwise", 1},
    {"ConvDepthwise", on_image([](NeutronNet& n, ValueId x) {
       // A depthwise convolution needs at least two channels.
       const ValueId wide = n.shape(x)[1] > 1 ? x : n.concat({x, x}, 1);
       return n.depthwise(wide, two(n.random, 1, 3), two(n.random, 1, 2), four(n.random, 1));
     }),
     "Conv2DDepthwise"},
    {"ConvDepthwiseTwice", on_image([](NeutronNet& n, ValueId x) {
       return n.depthwise(x, {2, 3}, {1, 1}, {0, 1, 0, 1}, n.random.between(2, 3));
     }),
     "Conv2D"},
    {"ConvGroups",
     [](NeutronNet& n) {
       const int64_t groups = n.random.between(2, 4);
       const ValueId x = n.input({1, groups * n.random.between(2, 4), 5, 6});
       return n.grouped(x, groups, groups * n.random.between(1, 4), {2, 2});
     },
     "Conv2DStandard"},
    {"ConvTransposed", on_image([](NeutronNet& n, ValueId x) {
       return n.conv_transpose(x, n.random.between(1, 9), two(n.random, 2, 4), two(n.random, 1, 2),
                               four(n.random, 1));
     }),
     "TransposeConv2D"},
    {"Linear", on_matrix([](NeutronNet& n, ValueId x) {
       return n.linear(x, n.random.between(1, 30), n.random.chance(50));
     }),
     "FullyConnected", 1},
    {"LinearOfRank3",
     [](NeutronNet& n) {
       return n.linear(n.input({n.random.between(1, 3), n.random.between(1, 5), 7}), 6);
     },
     "FullyConnected", 1},
    {"LinearBehindFlatten", after_conv([](NeutronNet& n, ValueId x) {
       const ir::Shape s = n.shape(x);
       return n.linear(n.reshape(x, {s[0], s[1] * s[2] * s[3]}), n.random.between(1, 9));
     }),
     "FullyConnected", 2},
    {"LinearInFrontOfAnImage",
     [](NeutronNet& n) {
       const int64_t channels = n.random.between(2, 6);
       const ValueId y = n.linear(n.input({1, 9}), channels * 12);
       return n.conv(n.reshape(y, {1, channels, 3, 4}), 5, {2, 2});
     },
     "FullyConnected", 2},
    {"BatchMatMul",
     [](NeutronNet& n) {
       const int64_t batch = n.random.between(1, 4), k = n.random.between(1, 9);
       const bool transposed = n.random.chance(50);
       const int64_t columns = n.random.between(1, 8);
       const ValueId a = n.input({batch, n.random.between(1, 7), k});
       const ValueId b =
           n.input(transposed ? ir::Shape{batch, columns, k} : ir::Shape{batch, k, columns});
       return n.matmul(a, b, transposed);
     },
     "BatchMatMul"},
    {"Add", pair_of([](NeutronNet& n, ValueId a, ValueId b) {
       n.relu = n.random.chance(40);
       return n.add(a, b);
     }),
     "Add", 1, true},
    {"Sub", pair_of([](NeutronNet& n, ValueId a, ValueId b) { return n.sub(a, b); }), "Sub", 1,
     true},
    {"Mul", pair_of([](NeutronNet& n, ValueId a, ValueId b) { return n.mul(a, b); }), "Mul", 1,
     true},
    {"Maximum", on_image([](NeutronNet& n, ValueId x) {
       return n.choose(OpKind::maximum, x, n.max_pool(x, {2, 2}, {1, 1}, {0, 0, 1, 1}));
     }),
     "Maximum", 2},
    {"Minimum", on_image([](NeutronNet& n, ValueId x) {
       return n.choose(OpKind::minimum, n.max_pool(x, {2, 2}, {1, 1}, {0, 0, 1, 1}), x);
     }),
     "Minimum", 2},
    {"PRelu", on_image([](NeutronNet& n, ValueId x) { return n.prelu(x); }), "PRelu", 1},
    {"Table", on_image([](NeutronNet& n, ValueId x) { return n.sigmoid(x); }), "Table", 1},
    {"TableOfAnyCodes", on_image([](NeutronNet& n, ValueId x) { return n.quantized_table(x); }),
     "Table", 1, true},
    {"TablesAreOne",
     on_image([](NeutronNet& n, ValueId x) { return n.rescale(n.quantized_table(n.rescale(x))); }),
     "Table", 1, true},
    {"TableInConv", after_conv([](NeutronNet& n, ValueId x) { return n.tanh(x); }), "Conv2D", 1},
    {"TableInLinear", on_matrix([](NeutronNet& n, ValueId x) { return n.sigmoid(n.linear(x, 9)); }),
     "FullyConnected+", 1},
    {"TableInSum",
     pair_of([](NeutronNet& n, ValueId a, ValueId b) { return n.leaky(n.add(a, b), 0.1); }), "Add+",
     1, true},
    {"TableInProduct",
     pair_of([](NeutronNet& n, ValueId a, ValueId b) { return n.tanh(n.mul(a, b)); }), "Mul+", 1,
     true},
    {"NumbersInConv", after_conv([](NeutronNet& n, ValueId x) {
       const ir::Shape one(4, 1);
       const ValueId scaled =
           n.random.chance(50) ? n.mul(n.constant(one), x) : n.mul(x, n.constant(one));
       const ValueId shifted =
           n.random.chance(50) ? n.add(scaled, n.constant(one)) : n.sub(n.constant(one), scaled);
       const ValueId bound = n.constant(one);
       n.graph.value(bound).type.quant = n.graph.type(shifted).quant;
       return n.choose(n.random.chance(50) ? OpKind::maximum : OpKind::minimum, shifted, bound);
     }),
     "Conv2D", 1},
    {"SiluInConv", after_conv([](NeutronNet& n, ValueId x) {
       return n.random.chance(50) ? n.mul(x, n.sigmoid(x)) : n.mul(n.sigmoid(x), x);
     }),
     "Conv2D", 1},
    {"SquareAndDoubleInConv", after_conv([](NeutronNet& n, ValueId x) {
       const ValueId square = n.mul(x, x);
       return n.add(square, square);
     }),
     "Conv2D", 1},
    {"ProductOfTwoReadersStays", after_conv([](NeutronNet& n, ValueId x) {
       const ValueId y = n.sigmoid(x);
       return n.sub(n.mul(x, y), y);
     }),
     "Sub", 4},
    {"RescaleInConv", after_conv([](NeutronNet& n, ValueId x) { return n.rescale(x); }), "Conv2D",
     1},
    {"FunctionBehindReshape", after_conv([](NeutronNet& n, ValueId x) {
       const ir::Shape s = n.shape(x);
       const ValueId rows = n.reshape(x, {s[0], s[1], s[2] * s[3]});
       return n.permute(n.tanh(n.permute(rows, {2, 0, 1})), {1, 2, 0});
     }),
     "Conv2D"},
    {"PadOfALineInConv",
     [](NeutronNet& n) {
       const ValueId x = n.input({1, n.random.between(2, 9), 12});
       const auto zero = static_cast<double>(n.zero_point(x));
       const ValueId padded = n.pad(x, {0, 0, 3}, {0, 0, 1}, zero);
       return n.conv(n.reshape(padded, {1, n.shape(x)[1], 1, 16}), 4, {1, 3});
     },
     "Conv2DStandard", 2},
    {"MaxPool", on_image([](NeutronNet& n, ValueId x) {
       return n.max_pool(x, two(n.random, 2, 3), two(n.random, 1, 3), four(n.random, 1));
     }),
     "MaxPool", 1},
    {"AvgPool", on_image([](NeutronNet& n, ValueId x) {
       return n.average_pool(x, two(n.random, 2, 3), two(n.random, 1, 3), four(n.random, 1));
     }),
     "AvgPool", 1},
    {"GlobalAvgPool", on_image([](NeutronNet& n, ValueId x) {
       return n.mean(x, {2, 3}, n.random.chance(50));
     }),
     "GlobalAvgPool", 1},
    {"ReduceMean", on_image([](NeutronNet& n, ValueId x) {
       const std::vector<int64_t> choices[] = {{1}, {1, 2}, {3}, {1, 2, 3}, {2}};
       return n.mean(x, choices[n.random.between(0, 4)], n.random.chance(50));
     }),
     "ReduceMean", 1},
    {"ReduceMax", on_image([](NeutronNet& n, ValueId x) {
       const std::vector<int64_t> choices[] = {{1}, {2, 3}, {3}, {1, 3}};
       return n.extreme(OpKind::amax, x, choices[n.random.between(0, 3)], n.random.chance(50));
     }),
     "ReduceMax", 1},
    {"ReduceMin", on_matrix([](NeutronNet& n, ValueId x) {
       return n.extreme(OpKind::amin, x, {1}, n.random.chance(50));
     }),
     "ReduceMin", 1},
    {"Softmax", on_matrix([](NeutronNet& n, ValueId x) { return n.softmax(x, 1); }), "Softmax", 1},
    {"SoftmaxOverChannels", on_image([](NeutronNet& n, ValueId x) { return n.softmax(x, 1); }),
     "Softmax", 1},
    {"Concat", after_conv([](NeutronNet& n, ValueId x) {
       return n.concat({n.max_pool(x, {1, 1}, {1, 1}), x}, n.random.between(1, 3));
     }),
     "MaxPool"},
    {"ConcatOfInputs", on_image([](NeutronNet& n, ValueId x) {
       return n.concat({x, x, n.max_pool(x, {1, 1}, {1, 1})}, n.random.between(0, 3));
     }),
     "Concat", 3},
    {"Slice", after_conv([](NeutronNet& n, ValueId x) {
       const ValueId wide = n.concat({x, n.max_pool(x, {1, 1}, {1, 1})}, 1);
       return n.conv(n.slice(wide, 1, 1, n.shape(x)[1] + 1), 3, {1, 1});
     }),
     "Conv2DPointwise"},
    {"SplitAndJoin", after_conv([](NeutronNet& n, ValueId x) {
       const ValueId wide = n.conv(x, 8, {1, 1});
       const ValueId a = n.slice(wide, 1, 0, 4), b = n.slice(wide, 1, 4, 8);
       return n.conv(n.concat({a, b, n.max_pool(b, {1, 1}, {1, 1})}, 1), 3, {1, 1});
     }),
     "MaxPool", 4},
    {"SplitAndCross", after_conv([](NeutronNet& n, ValueId x) {
       const ValueId wide = n.conv(x, 8, {1, 1});
       return n.concat({n.slice(wide, 1, 4, 8), n.slice(wide, 1, 0, 4)}, 1);
     }),
     "Slice", 4},
    {"Pad", on_image([](NeutronNet& n, ValueId x) {
       return n.pad(x, {0, 1, 2, 0}, {0, 0, 1, 3},
                    static_cast<double>(n.random.between(-128, 127)));
     }),
     "Pad", 1},
    {"PadInConv", on_image([](NeutronNet& n, ValueId x) {
       const auto zero = static_cast<double>(n.zero_point(x));
       return n.conv(n.pad(x, {0, 0, 1, 0}, {0, 0, 2, 1}, zero), 4, {3, 3});
     }),
     "Conv2DStandard", 1},
    {"PadOfAnotherCode", on_image([](NeutronNet& n, ValueId x) {
       const auto other = static_cast<double>(n.zero_point(x) == 5 ? 6 : 5);
       return n.conv(n.pad(x, {0, 0, 1, 0}, {0, 0, 2, 1}, other), 4, {3, 3});
     }),
     "Pad", 2},
    {"MirrorPad", on_image([](NeutronNet& n, ValueId x) {
       return n.reflect(n.reflect(x, 3, n.random.between(0, 2), 1), 2, 2, n.random.between(0, 2));
     }),
     "MirrorPad", 1},
    {"ResizeNearest", on_image([](NeutronNet& n, ValueId x) {
       return n.nearest(x, int64_t{1} << n.random.between(1, 2));
     }),
     "ResizeNearest", 1},
    {"ResizeBilinear", on_image([](NeutronNet& n, ValueId x) {
       return n.bilinear(x, int64_t{1} << n.random.between(1, 2), n.random.chance(50));
     }),
     "ResizeBilinear", 1},
    {"TransposeOfWhatLeaves", after_conv([](NeutronNet& n, ValueId x) {
       return n.permute(x, {0, 3, 1, 2});
     }),
     "Conv2D"},
    {"Expand", on_image([](NeutronNet& n, ValueId x) {
       const ir::Shape s = n.shape(x);
       const ValueId mean = n.mean(x, {2, 3});
       return n.add(n.expand(mean, s), x);
     }),
     "Add", 2, true},
};

NeutronOutcome outcome_of(const Single& single, uint64_t seed) {
  NeutronNet net(seed);
  const ValueId y = single.make(net);
  if (y == ir::kNoValue) return {false, "the case is no graph", 0, 0, {}};
  net.graph.add_output(y);
  // Images cross the subgraph's border in channels-last order.
  test::set_channels_last(&net.graph);
  const auto& use = single.bare ? test::unlegalized_neutron_use() : test::neutron_use();
  NeutronOutcome outcome = test::run_neutron(net.graph, use, seed);
  if (!outcome.message.empty()) outcome.message += "\n" + ir::print(net.graph);
  return outcome;
}

class NeutronKernel : public testing::TestWithParam<Single> {};

TEST_P(NeutronKernel, ModelEqualsEvaluator) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const NeutronOutcome outcome = outcome_of(GetParam(), seed);
    ASSERT_FALSE(outcome.refused) << seed << ": " << outcome.message;
    ASSERT_EQ(outcome.message, "") << "seed " << seed;
    const std::string list = fmt::format("{}", fmt::join(outcome.kernels, ", "));
    EXPECT_NE(list.find(GetParam().kernel), std::string::npos) << list;
    if (GetParam().count >= 0) {
      EXPECT_EQ(static_cast<int64_t>(outcome.kernels.size()), GetParam().count)
          << "seed " << seed << ": " << list;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Each, NeutronKernel, testing::ValuesIn(kSingles),
                         [](const auto& info) { return info.param.name; });

// --- networks -----------------------------------------------------------------------------------

struct Seeds {
  uint64_t first = 0, count = 0;
  bool one = false;
};

Seeds seeds() {
  const char* one = std::getenv("THIMBLE_NEUTRON_SEED");
  const char* many = std::getenv("THIMBLE_NEUTRON_SEEDS");
  if (one != nullptr) return {std::stoul(one), 1, true};
  return {0, many == nullptr ? 400 : std::stoul(many), false};
}

void run_networks(const engine::PartNpu& use, bool legalized) {
  const Seeds all = seeds();
  uint64_t refused = 0;
  size_t kernels = 0;
  for (uint64_t seed = all.first; seed < all.first + all.count; ++seed) {
    const ir::Graph graph =
        test::random_neutron_network(seed, 1 + static_cast<int>(seed % 12), legalized);
    const NeutronOutcome outcome = test::run_neutron(graph, use, seed);
    if (outcome.refused) {
      ++refused;
      if (all.one) std::cout << outcome.message << "\n";
      continue;
    }
    kernels += outcome.kernels.size();
    ASSERT_EQ(outcome.message, "") << "THIMBLE_NEUTRON_SEED=" << seed << "\n" << ir::print(graph);
  }
  std::cout << all.count - refused << " of " << all.count << " networks ran, " << kernels
            << " kernels\n";
  EXPECT_LE(refused * 10, all.count) << "more than a tenth is refused";
}

TEST(NeutronRandom, NetworksEqualTheEvaluator) {
  run_networks(test::neutron_use(), true);
}

TEST(NeutronRandom, UnlegalizedNetworksEqualTheEvaluator) {
  run_networks(test::unlegalized_neutron_use(), false);
}

/// Runs the subgraphs that the partition cuts out of graphs generated without regard to this NPU.
uint64_t run_subgraphs(const engine::PartNpu& use) {
  const Seeds all = seeds();
  uint64_t regions = 0;
  for (uint64_t seed = all.first; seed < all.first + all.count; ++seed) {
    const ir::Graph graph = test::random_integer_graph(seed, {14, false});
    partition::Choices choices;
    choices.keep_small = true;
    const auto cut = partition::partition(graph, {&use, 1}, choices);
    EXPECT_TRUE(cut.ok()) << cut.error().message;
    if (!cut.ok()) return regions;
    for (const partition::Subgraph& region : cut->subgraphs) {
      const NeutronOutcome outcome = test::run_neutron(region.graph, use, seed);
      EXPECT_EQ(outcome.message, "") << "THIMBLE_NEUTRON_SEED=" << seed << "\n"
                                     << ir::print(region.graph);
      if (!outcome.message.empty()) return regions;
      if (region.ops.size() > 1) ++regions;
    }
  }
  std::cout << regions << " regions of several operators in " << all.count << " graphs\n";
  return regions;
}

TEST(NeutronRandom, SubgraphsOfIntegerGraphsEqualTheEvaluator) {
  const uint64_t regions = run_subgraphs(test::neutron_use());
  EXPECT_TRUE(seeds().one || regions * 4 > seeds().count);
}

TEST(NeutronRandom, UnlegalizedSubgraphsEqualTheEvaluator) {
  const uint64_t regions = run_subgraphs(test::unlegalized_neutron_use());
  EXPECT_TRUE(seeds().one || regions > seeds().count);
}

/// The result may reuse an operand's buffer only if no other operand is a part of that buffer.
TEST(NeutronBufferReuse, BufferWithAliasedPieceIsNotReused) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    NeutronNet net(seed);
    const ValueId x = net.input({1, 6});
    const ValueId row = net.sigmoid(x);
    const ValueId rows = net.concat({row, net.leaky(x, 1), row}, 0);
    net.graph.add_output(net.softmax(net.mul(rows, row), 0));
    const NeutronOutcome outcome =
        test::run_neutron(net.graph, test::unlegalized_neutron_use(), seed);
    ASSERT_FALSE(outcome.refused) << outcome.message;
    ASSERT_EQ(outcome.message, "") << "seed " << seed << "\n" << ir::print(net.graph);
  }
}

// --- prefetched weights -------------------------------------------------------------------------

/// Prefetched constants of neighbouring kernels do not overlap, and the prefetch area is as large
/// as the largest pair of neighbours.
TEST(NeutronPrefetch, AreaEqualsLargestPairOfNeighbours) {
  int64_t lists = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const ir::Graph graph = test::random_neutron_network(seed, 10, true);
    const auto slots = test::prefetch_slots(graph);
    if (!slots) continue;
    ++lists;
    int64_t largest = 0, before_from = 0, before_to = 0;
    for (const auto& [from, bytes] : slots->kernels) {
      EXPECT_TRUE(from >= before_to || from + bytes <= before_from) << "seed " << seed;
      EXPECT_LE(from + bytes, slots->bytes);
      largest = std::max(largest, before_to - before_from + bytes);
      before_from = from;
      before_to = from + bytes;
    }
    EXPECT_EQ(slots->bytes, largest) << "seed " << seed;
  }
  EXPECT_GT(lists, 40);
}

}  // namespace
}  // namespace thimble
