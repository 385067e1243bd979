// SPDX-License-Identifier: Apache-2.0
// Tests which operators the AXON supports and refuses, and that its layer lists compute the bytes
// of the reference evaluator.
//
//   THIMBLE_AXON_SEED=17 axon_ops_test --gtest_filter='*Random*'   repeats one network
//   THIMBLE_AXON_SEEDS=5000                                        runs 5000 networks, not 400

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>

#include "axon_cases.h"
#include "engines/axon/compiler/legalize.h"
#include "eval/evaluate.h"
#include "ir/print.h"

namespace thimble {
namespace {

using ir::ValueId;
using test::AxonNet;
using Make = std::function<ValueId(AxonNet&)>;
using Ints = std::vector<int64_t>;

test::AxonOutcome outcome_of(const Make& make, uint64_t seed) {
  AxonNet net(seed);
  const ValueId y = make(net);
  if (y == ir::kNoValue) return {false, "the case is no graph", 0, {}, false};
  net.graph.add_output(y);
  test::AxonOutcome outcome = test::run_axon(net.graph, seed);
  if (!outcome.message.empty() && !outcome.refused) outcome.message += "\n" + ir::print(net.graph);
  return outcome;
}

struct Limit {
  std::string name;
  Make accepted;
  Make refused;
  std::vector<std::string> words;  // that the refusal must contain
};

void PrintTo(const Limit& limit, std::ostream* out) {
  *out << limit.name;
}

Make linear(int64_t inputs, int64_t outputs) {
  return [=](AxonNet& n) { return n.linear(n.input({1, inputs}), outputs); };
}
Make flattened(ir::Shape x, int64_t outputs) {
  return [=](AxonNet& n) {
    return n.linear(n.reshape(n.input(x), {1, ir::element_count(x)}), outputs);
  };
}
Make conv(ir::Shape x, int64_t channels, Ints kernel, Ints stride = {1, 1},
          Ints dilation = {1, 1}) {
  return [=](AxonNet& n) {
    return n.conv(n.input(x), channels, kernel, stride, {0, 0, 0, 0}, dilation);
  };
}
Make depthwise(ir::Shape x, Ints kernel, Ints stride = {1, 1}, int64_t multiplier = 1) {
  return [=](AxonNet& n) {
    return n.depthwise(n.input(x), kernel, stride, {0, 0, 0, 0}, multiplier);
  };
}
Make average(ir::Shape x, Ints kernel, Ints stride, Ints padding = {0, 0, 0, 0}) {
  return [=](AxonNet& n) { return n.average_pool(n.input(x), kernel, stride, padding); };
}
Make maximum(ir::Shape x, Ints kernel, Ints stride, Ints padding = {0, 0, 0, 0}) {
  return [=](AxonNet& n) { return n.max_pool(n.input(x), kernel, stride, padding); };
}
Make amax(ir::Shape x, Ints dims, bool keepdim = false) {
  return [=](AxonNet& n) { return n.amax(n.input(x), dims, keepdim); };
}
Make sum(ir::Shape a, ir::Shape b) {
  return [=](AxonNet& n) {
    const ValueId x = n.input(a);
    return n.add(x, n.input(b));
  };
}
Make product(ir::Shape a, ir::Shape b) {
  return [=](AxonNet& n) {
    const ValueId x = n.input(a);
    return n.mul(x, n.input(b));
  };
}
Make mean(ir::Shape x, Ints dims) {
  return [=](AxonNet& n) { return n.mean(n.input(x), dims); };
}
Make slice(ir::Shape x, int64_t dim, int64_t step) {
  return [=](AxonNet& n) { return n.slice(n.input(x), dim, 0, x[static_cast<size_t>(dim)], step); };
}
Make padded(ir::Shape x, Ints before, Ints after) {
  return [=](AxonNet& n) {
    const ValueId id = n.input(x);
    return n.pad(id, before, after, static_cast<double>(n.zero_point(id)));
  };
}
/// Padding before a convolution. The value is the zero point plus `off`; the convolution can absorb
/// the padding only if `off` is 0.
Make padded_conv(int64_t off) {
  return [=](AxonNet& n) {
    const ValueId id = n.input({1, 3, 5, 6});
    const double value =
        static_cast<double>(n.zero_point(id) + (n.zero_point(id) > 0 ? -off : off));
    return n.conv(n.pad(id, {0, 0, 1, 0}, {0, 0, 2, 1}, value), 4, {3, 3});
  };
}
Make concat(int64_t dim, bool alike) {
  return [=](AxonNet& n) {
    const ValueId a = n.input({1, 4, 5, 6});
    ValueId b = n.input({1, 4, 5, 6});
    while (!alike && n.zero_point(b) == n.zero_point(a)) b = n.input({1, 4, 5, 6});
    return n.concat({a, alike ? n.max_pool(a, {1, 1}, {1, 1}) : b}, dim);
  };
}
Make many_inputs(int count) {
  return [=](AxonNet& n) {
    ValueId y = n.input({1, 8});
    for (int i = 1; i < count; ++i) y = n.add(y, n.input({1, 8}));
    return y;
  };
}
Make bounded(int64_t max) {
  return [=](AxonNet& n) {
    n.max = max;
    return n.linear(n.input({1, 8}), 4);
  };
}
Make linear_rows(ir::Shape x, int64_t outputs, bool per_channel = false) {
  return [=](AxonNet& n) { return n.linear(n.input(x), outputs, per_channel); };
}
Make rows(int64_t count) {
  return [=](AxonNet& n) { return n.linear(n.input({count, 8}), 4); };
}

const std::string h = "height", w = "width", k = "kernel", s = "stride";
const std::vector<Limit> kLimits = {
    {"Height",
     conv({1, 1, 1024, 2}, 2, {3, 1}),
     conv({1, 1, 1025, 2}, 2, {3, 1}),
     {h, "1025", "1024"}},
    {"Width",
     conv({1, 1, 2, 1024}, 2, {1, 3}),
     conv({1, 1, 2, 1025}, 2, {1, 3}),
     {w, "1025", "1024"}},
    {"Channels",
     conv({1, 1024, 2, 2}, 2, {2, 1}),
     conv({1, 1025, 2, 2}, 2, {2, 1}),
     {"channels", "1025"}},
    {"ConvOutputs",
     conv({1, 2, 2, 2}, 1024, {2, 1}),
     conv({1, 2, 2, 2}, 1025, {2, 1}),
     {"channels", "1025"}},
    {"LinearInputs", linear(2048, 3), linear(2049, 3), {"2049", "2048"}},
    {"LinearOutputs", linear(3, 2048), linear(3, 2049), {"2049", "2048"}},
    {"FlattenedInputs",
     flattened({1, 2, 16, 64}, 3),
     flattened({1, 3, 1, 683}, 3),
     {"inputs", "2049"}},
    {"LinearRows", rows(1024), rows(1025), {h, "1025", "1024"}},
    {"LinearRowInputs", linear_rows({3, 1024}, 5), linear_rows({3, 1025}, 5), {w, "1025"}},
    {"ConvKernelHeight",
     conv({1, 1, 20, 20}, 2, {16, 3}),
     conv({1, 1, 20, 20}, 2, {17, 3}),
     {k, h, "17"}},
    {"ConvKernelWidth",
     conv({1, 1, 20, 20}, 2, {3, 16}),
     conv({1, 1, 20, 20}, 2, {3, 17}),
     {k, w, "17"}},
    {"Conv1dWidth", conv({1, 2, 1, 40}, 2, {1, 32}), conv({1, 2, 1, 40}, 2, {1, 33}), {k, w, "33"}},
    {"Conv1dHeight",
     conv({1, 2, 40, 1}, 2, {16, 1}),
     conv({1, 2, 40, 1}, 2, {17, 1}),
     {k, h, "17"}},
    {"ConvStrideHeight",
     conv({1, 1, 40, 4}, 2, {2, 1}, {31, 1}),
     conv({1, 1, 40, 4}, 2, {2, 1}, {32, 1}),
     {s, h, "32"}},
    {"ConvStrideWidth",
     conv({1, 1, 4, 40}, 2, {2, 1}, {1, 31}),
     conv({1, 1, 4, 40}, 2, {2, 1}, {1, 32}),
     {s, w, "32"}},
    {"Dilation",
     conv({1, 2, 40, 1}, 2, {3, 1}, {1, 1}, {8, 1}),
     conv({1, 2, 40, 8}, 2, {3, 1}, {1, 1}, {8, 1}),
     {"dilation", "8"}},
    {"DilationHeight",
     conv({1, 2, 70, 1}, 2, {3, 1}, {1, 1}, {31, 1}),
     conv({1, 2, 70, 1}, 2, {3, 1}, {1, 1}, {32, 1}),
     {"dilation", "32"}},
    {"DepthwiseKernel",
     depthwise({1, 3, 20, 20}, {16, 16}),
     depthwise({1, 3, 20, 20}, {16, 17}),
     {k, w, "17"}},
    {"DepthwiseStride",
     depthwise({1, 3, 40, 4}, {2, 2}, {31, 1}),
     depthwise({1, 3, 40, 4}, {2, 2}, {32, 1}),
     {s, "32"}},
    {"DepthwiseChannels",
     depthwise({1, 512, 2, 2}, {2, 1}),
     depthwise({1, 513, 2, 2}, {2, 1}),
     {"channels", "513"}},
    {"AveragePoolKernel",
     average({1, 2, 40, 40}, {32, 32}, {2, 2}),
     average({1, 2, 40, 40}, {33, 2}, {2, 2}),
     {k, "33"}},
    {"AveragePoolStride",
     average({1, 2, 40, 4}, {2, 2}, {31, 1}),
     average({1, 2, 40, 4}, {2, 2}, {32, 1}),
     {s, "32"}},
    {"AveragePoolPadding",
     average({1, 2, 8, 8}, {3, 3}, {2, 2}),
     average({1, 2, 8, 8}, {3, 3}, {2, 2}, {1, 1, 1, 1}),
     {"padding [1,1,1,1]"}},
    {"MaxPoolKernel",
     maximum({1, 2, 40, 40}, {32, 32}, {2, 2}),
     maximum({1, 2, 40, 40}, {2, 33}, {2, 2}),
     {k, "33"}},
    {"MaxPoolStride",
     maximum({1, 2, 4, 40}, {2, 2}, {1, 31}),
     maximum({1, 2, 4, 40}, {2, 2}, {1, 32}),
     {s, "32"}},
    {"MaxPoolPadding",
     maximum({1, 2, 8, 8}, {3, 3}, {2, 2}),
     maximum({1, 2, 8, 8}, {3, 3}, {2, 2}, {1, 1, 1, 1}),
     {"padding"}},
    {"MeanDims", mean({1, 3, 5, 6}, {2, 3}), mean({1, 3, 5, 6}, {1}), {"dimension 1"}},
    {"Amax", amax({1, 3, 32, 5}, {2, 3}), amax({1, 3, 33, 5}, {2, 3}), {"33"}},
    {"AmaxDimension", amax({1, 3, 4, 5}, {3}), amax({1, 3, 4, 5}, {1}), {"dimension 1"}},
    {"AddRepeats", sum({1, 3, 4, 5}, {1, 3, 1, 5}), sum({1, 3, 4, 5}, {1, 1, 4, 1}), {"repeated"}},
    {"MultiplyRepeats",
     product({1, 3, 4, 5}, {1, 3, 4, 1}),
     product({1, 3, 4, 5}, {1, 1, 1, 5}),
     {"repeated"}},
    {"MultiplyWidth", product({1, 2048}, {1, 2048}), product({1, 2049}, {1, 2049}), {w, "2049"}},
    {"SliceStride", slice({1, 1, 2, 64}, 3, 31), slice({1, 1, 2, 64}, 3, 32), {s, "32"}},
    {"Pad",
     padded({1, 3, 4, 5}, {0, 2, 0, 0}, {0, 1, 0, 0}),
     padded({1, 3, 4, 5}, {0, 0, 1, 0}, {0, 0, 0, 0}),
     {"pads"}},
    {"PadBeforeConv", padded_conv(0), padded_conv(1), {"pads"}},
    {"Concat", concat(2, true), concat(2, false), {"zero points"}},
    {"Inputs", many_inputs(8), many_inputs(9), {"9 inputs"}},
    {"UpperBound", bounded(127), bounded(90), {"90", "127"}},
};

bool has_words(const std::string& text, const std::vector<std::string>& words) {
  return std::ranges::all_of(
      words, [&](const std::string& word) { return text.find(word) != std::string::npos; });
}

class AxonLimit : public testing::TestWithParam<Limit> {};

TEST_P(AxonLimit, AcceptsLimitAndRefusesNextValue) {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    const test::AxonOutcome taken = outcome_of(GetParam().accepted, seed);
    EXPECT_FALSE(taken.refused) << taken.message;
    EXPECT_EQ(taken.message, "");
    const test::AxonOutcome refused = outcome_of(GetParam().refused, seed);
    EXPECT_TRUE(refused.refused);
    EXPECT_TRUE(has_words(refused.message, GetParam().words)) << refused.message;
  }
}
INSTANTIATE_TEST_SUITE_P(Each, AxonLimit, testing::ValuesIn(kLimits),
                         [](const auto& info) { return info.param.name; });

// --- single layers ------------------------------------------------------------------------------

struct Single {
  std::string name;
  Make make;
  std::string layers;  // as the report names them
};

void PrintTo(const Single& single, std::ostream* out) {
  *out << single.name;
}

Make grouped(ir::Shape x, int64_t channels, int64_t groups, Ints kernel, bool per_channel) {
  return [=](AxonNet& n) { return n.grouped(n.input(x), channels, groups, kernel, per_channel); };
}

using Step = std::function<ValueId(AxonNet&, ValueId)>;
const ir::Shape x = {1, 5, 7, 6};
Make on(const Step& f) {
  return [=](AxonNet& n) { return f(n, n.input(x)); };
}
Make after_conv(const Step& f) {
  return [=](AxonNet& n) { return f(n, n.conv(n.input(x), 4, {3, 3})); };
}
Make behind_sum(const Step& f) {
  return [=](AxonNet& n) {
    const ValueId a = n.input({1, 9});
    return f(n, n.add(a, n.linear(a, 9)));
  };
}

const std::vector<Single> kSingles = {
    {"Linear", linear(13, 7), "FC"},
    {"LinearPerChannel",
     [](AxonNet& n) {
       return n.linear(n.input({1, 13}), 7, true);
     },
     "FC per channel"},
    {"LinearRows", linear_rows({3, 13}, 7), ""},
    {"LinearRowsPerChannel", linear_rows({1, 3, 13}, 7, true), ""},
    {"LinearRowsOfBatches", linear_rows({2, 3, 8}, 4), ""},
    {"LinearRowsOfImage", linear_rows({1, 2, 5, 6}, 6), ""},
    {"LinearRowsSquare", linear_rows({1, 1, 6, 6}, 6), ""},
    {"LinearRowsBehindLinearRows",
     [](AxonNet& n) {
       return n.sigmoid(n.linear(n.linear(n.input({9, 10}), 8), 6));
     },
     ""},
    {"SoftmaxBehindLinearRows",
     [](AxonNet& n) {
       return n.softmax(n.linear(n.input({4, 9}), 6), 1);
     },
     ""},
    {"Conv", conv(x, 6, {3, 2}), "CONV 3x2"},
    {"ConvOneMultiplier",
     [](AxonNet& n) {
       return n.conv(n.input(x), 6, {3, 3}, {2, 1}, {1, 2, 0, 1}, {1, 1}, false);
     },
     "CONV 3x3 s2x1"},
    {"Conv1d", conv({1, 3, 1, 20}, 4, {1, 5}), "CONV 1x5"},
    {"Pointwise", conv({1, 5, 7, 8}, 6, {1, 1}), "POINTWISE 1x1"},
    {"PointwiseOnPackedRows", conv(x, 6, {1, 1}), "SLICE+POINTWISE 1x1"},
    {"PointwiseOnOnePosition", conv({1, 9, 1, 1}, 6, {1, 1}), "FC per channel"},
    {"PointwiseWithStride",
     [](AxonNet& n) {
       return n.conv(n.input({1, 16, 16, 16}), 16, {1, 1}, {2, 2});
     },
     "SLICE+POINTWISE 1x1"},
    {"PointwiseOfManyChannels", conv({1, 513, 1, 4}, 2, {1, 1}), "CONV 1x1"},
    {"Depthwise", depthwise(x, {3, 3}), "DEPTHWISE 3x3"},
    {"DepthwiseMultiplier", depthwise({1, 3, 4, 4}, {2, 2}, {1, 1}, 2), ""},
    {"Groups", grouped({1, 6, 7, 6}, 8, 2, {3, 2}, true), ""},
    {"GroupsOfOneMultiplier", grouped({1, 6, 5, 4}, 9, 3, {1, 1}, false), ""},
    {"PReluBehindGroups",
     [](AxonNet& n) {
       return n.prelu(grouped({1, 6, 5, 4}, 4, 2, {2, 2}, true)(n));
     },
     ""},
    {"GroupsBehindConv", after_conv([](AxonNet& n, ValueId a) {
       return n.grouped(a, 6, 2, {2, 1}, true);
     }),
     ""},
    {"AddManyRows", sum({1, 40, 60}, {1, 40, 60}), "ADD"},
    {"AddRepeatsChannels", sum({1, 3, 4, 5}, {1, 1, 4, 5}), ""},
    {"MultiplyRepeatsChannels", after_conv([](AxonNet& n, ValueId a) {
       return n.mul(a, n.constant({1, 1, 5, 4}));
     }),
     ""},
    {"MultiplyRepeatsChannelsOfRows", product({4, 6, 8}, {1, 6, 8}), ""},
    {"Subtract",
     [](AxonNet& n) {
       const ValueId a = n.input(x);
       return n.subtract(a, n.input(x));
     },
     ""},
    {"SubtractConstant", on([](AxonNet& n, ValueId a) {
       return n.subtract(a, n.constant({1, 5, 1, 1}));
     }),
     ""},
    {"SubtractFromConstant", on([](AxonNet& n, ValueId a) {
       return n.subtract(n.constant({1, 5, 7, 6}), a);
     }),
     ""},
    {"Maximum", on([](AxonNet& n, ValueId a) {
       return n.extreme(ir::OpKind::maximum, a, n.max_pool(a, {1, 1}, {1, 1}));
     }),
     ""},
    {"MaximumOfShifted", on([](AxonNet& n, ValueId a) {
       return n.extreme(ir::OpKind::maximum, n.slice(a, 1, 0, 4), n.slice(a, 1, 1, 5));
     }),
     ""},
    {"MinimumOfShifted", on([](AxonNet& n, ValueId a) {
       return n.extreme(ir::OpKind::minimum, n.slice(a, 1, 0, 4), n.slice(a, 1, 1, 5));
     }),
     ""},
    {"MinimumRepeats", on([](AxonNet& n, ValueId a) {
       return n.extreme(ir::OpKind::minimum, n.slice(a, 2, 0, 1), a);
     }),
     ""},
    {"AveragePool", average(x, {2, 3}, {2, 1}), "AVGPOOL 2x3 s2x1"},
    {"AveragePoolOfAll", average(x, {7, 6}, {1, 1}), "MEAN"},
    {"MaxPool", maximum(x, {2, 2}, {2, 2}), "MAXPOOL 2x2 s2"},
    {"MeanOfRows", mean(x, {3}), "MEAN"},
    {"Add", sum(x, x), "ADD"},
    {"AddRelu",
     [](AxonNet& n) {
       const ValueId a = n.input(x), b = n.input(x);
       n.relu = true;
       return n.add(a, b);
     },
     ""},
    {"Multiply", product(x, x), "MULTIPLY"},
    {"MultiplyByConstant", on([](AxonNet& n, ValueId a) {
       return n.mul(a, n.constant({1, 5, 1, 1}));
     }),
     "MULTIPLY"},
    {"AddConstantFirst", on([](AxonNet& n, ValueId a) {
       return n.add(n.constant({1, 5, 7, 1}), a);
     }),
     "ADD"},
    {"Sigmoid", on([](AxonNet& n, ValueId a) { return n.sigmoid(a); }), ""},
    {"Tanh", on([](AxonNet& n, ValueId a) { return n.tanh(a); }), ""},
    {"SigmoidBehindConv", after_conv([](AxonNet& n, ValueId a) { return n.sigmoid(a); }), ""},
    {"TanhBehindSum", behind_sum([](AxonNet& n, ValueId a) { return n.tanh(a); }), ""},
    {"Softmax", on([](AxonNet& n, ValueId a) { return n.softmax(a, 1); }), ""},
    {"SoftmaxBehindLinear",
     behind_sum([](AxonNet& n, ValueId a) { return n.softmax(n.linear(a, 6), 1); }), ""},
    {"LeakyBehindConv", after_conv([](AxonNet& n, ValueId a) { return n.leaky(a, 0.1); }), ""},
    {"LeakyAlone", on([](AxonNet& n, ValueId a) { return n.leaky(a, 0.2); }), ""},
    {"LeakyVector",
     [](AxonNet& n) {
       return n.leaky(n.input({1, 11}), 0.2);
     },
     ""},
    {"PReluBehindConv", after_conv([](AxonNet& n, ValueId a) { return n.prelu(a); }), ""},
    {"ReluAlone", on([](AxonNet& n, ValueId a) { return n.leaky(a, 0); }), ""},
    {"ChangeOfScale", on([](AxonNet& n, ValueId a) { return n.leaky(a, 1); }), "MULTIPLY"},
    {"AmaxOfImage", amax({1, 5, 7, 6}, {2, 3}), "MAXPOOL 7x6"},
    {"AmaxOfRows", amax({1, 5, 7, 6}, {2}, true), "MAXPOOL 7x1"},
    {"ConcatChannels", after_conv([](AxonNet& n, ValueId a) {
       return n.concat({a, n.max_pool(a, {1, 1}, {1, 1})}, 1);
     }),
     "CONCAT"},
    {"ConcatOfThree", after_conv([](AxonNet& n, ValueId a) {
       return n.concat({a, n.max_pool(a, {1, 1}, {1, 1}), a}, 3);
     }),
     "CONCAT"},
    {"SliceOfRows", on([](AxonNet& n, ValueId a) { return n.slice(a, 2, 1, 6, 2); }), "SLICE"},
    {"Split", after_conv([](AxonNet& n, ValueId a) {
       return n.add(n.slice(a, 1, 0, 2), n.slice(a, 1, 2, 4));
     }),
     "ADD"},
    {"ChannelPad", padded(x, {0, 1, 0, 0}, {0, 2, 0, 0}), "CHANNELPAD"},
    {"Flatten", after_conv([](AxonNet& n, ValueId a) {
       return n.linear(n.reshape(a, {1, 80}), 5);
     }),
     "FC"},
    {"Reshape", after_conv([](AxonNet& n, ValueId a) {
       return n.max_pool(n.reshape(a, {1, 2, 8, 5}), {2, 2}, {1, 1});
     }),
     "RESHAPE+MAXPOOL 2x2"},
};

class AxonLayer : public testing::TestWithParam<Single> {};

TEST_P(AxonLayer, ModelEqualsEvaluator) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const test::AxonOutcome outcome = outcome_of(GetParam().make, seed);
    ASSERT_FALSE(outcome.refused) << seed << ": " << outcome.message;
    ASSERT_EQ(outcome.message, "") << "seed " << seed;
    const std::string& wanted = GetParam().layers;
    const bool found =
        wanted.empty() || std::ranges::find(outcome.layers, wanted) != outcome.layers.end();
    EXPECT_TRUE(found) << wanted << " in " << fmt::format("{}", fmt::join(outcome.layers, ", "));
  }
}
INSTANTIATE_TEST_SUITE_P(Each, AxonLayer, testing::ValuesIn(kSingles),
                         [](const auto& info) { return info.param.name; });

// --- networks -----------------------------------------------------------------------------------

TEST(AxonRandom, NetworksEqualTheEvaluator) {
  const char* one = std::getenv("THIMBLE_AXON_SEED");
  const char* many = std::getenv("THIMBLE_AXON_SEEDS");
  const uint64_t first = one == nullptr ? 0 : std::stoul(one);
  const uint64_t count = one != nullptr ? 1 : many == nullptr ? 400 : std::stoul(many);
  uint64_t refused = 0, transposed_hw = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const ir::Graph graph = test::random_axon_network(seed, 1 + static_cast<int>(seed % 9));
    const test::AxonOutcome outcome = test::run_axon(graph, seed);
    if (outcome.refused) {
      ++refused;
      if (one != nullptr) std::cout << outcome.message << "\n";
      continue;
    }
    transposed_hw += outcome.transposed_hw ? 1 : 0;
    ASSERT_EQ(outcome.message, "") << "THIMBLE_AXON_SEED=" << seed << "\n" << ir::print(graph);
  }
  std::cout << count - refused << " of " << count << " networks ran, " << transposed_hw
            << " also turned\n";
  EXPECT_TRUE(one != nullptr || transposed_hw * 4 > count) << "the maker makes too few that turn";
  EXPECT_LE(refused * 5, count) << "more than a fifth is refused: the maker makes too much of it";
}

TEST(AxonLegalize, MaximumAndMinimumAreExact) {
  for (const ir::OpKind kind : {ir::OpKind::maximum, ir::OpKind::minimum}) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      AxonNet net(seed);
      const ValueId a = net.input({2, 64});
      net.graph.add_output(net.extreme(kind, net.slice(a, 0, 0, 1), net.slice(a, 0, 1, 2)));
      const auto legalized = engine::axon::legalize(net.graph);
      ASSERT_TRUE(legalized.ok()) << legalized.error().message;
      const auto inputs = test::random_inputs(net.graph, seed);
      const auto expected = eval::evaluate(net.graph, inputs);
      const auto got = eval::evaluate(*legalized, inputs);
      ASSERT_TRUE(expected.ok() && got.ok());
      EXPECT_EQ((*expected)[0].bytes, (*got)[0].bytes) << "seed " << seed;
    }
  }
}

TEST(AxonDefects, LinearLayersWithManyInputsAreSplit) {
  const auto layers = [](int64_t inputs, int64_t outputs, bool per_channel) {
    const auto outcome = outcome_of(
        [=](AxonNet& n) {
          return n.linear(n.input({1, inputs}), outputs, per_channel);
        },
        1);
    EXPECT_FALSE(outcome.refused) << outcome.message;
    EXPECT_EQ(outcome.message, "");
    return outcome.layers.empty() ? "" : outcome.layers[0];
  };
  EXPECT_EQ(layers(1024, 600, false), "FC+CONCAT");
  EXPECT_EQ(layers(1024, 1500, false), "FC+CONCAT+FC+CONCAT");
  EXPECT_EQ(layers(1023, 600, false), "FC");
  EXPECT_EQ(layers(1024, 512, false), "FC");
  EXPECT_EQ(layers(1024, 600, true), "FC per channel");
  const auto rows = outcome_of(linear_rows({5, 1024}, 600), 1);
  EXPECT_FALSE(rows.refused) << rows.message;
  EXPECT_EQ(rows.message, "");
}

TEST(AxonStates, StateBecomesVariable) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    AxonNet net(seed);
    const ValueId x = net.input({1, 6});
    const ValueId h =
        net.graph.add_input("h", {ir::DType::kI8, {1, 9}, {}, ir::per_tensor(1.0 / 128, 0)});
    const ValueId next = net.tanh(net.add(net.linear(x, 9), net.linear(h, 9)));
    net.graph.add_output(net.linear(next, 3));
    net.graph.add_output(next);
    const test::AxonOutcome outcome = test::run_axon(net.graph, seed, {{1, 1}});
    ASSERT_FALSE(outcome.refused) << outcome.message;
    ASSERT_EQ(outcome.message, "") << "seed " << seed << "\n" << ir::print(net.graph);
  }
}

}  // namespace
}  // namespace thimble
