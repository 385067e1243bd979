// SPDX-License-Identifier: Apache-2.0
// Cross-layer equalization, and the selection of methods by measured gain.

#include "quant/equalize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "eval/evaluate.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/pipeline.h"
#include "quant/tune.h"
#include "quant_random_network.h"

namespace thimble::test {
namespace {

using ir::Graph;
using ir::ValueId;

Graph parsed(const std::string& body) {
  auto graph = ir::parse("graph @forward {\n" + body + "\n}", "test");
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().message);
  return graph.ok() ? std::move(*graph) : Graph();
}

std::vector<std::string> group_of(const Graph& graph, const quant::ChannelGroup& channel_group) {
  std::vector<std::string> names;
  for (const ValueId id : channel_group.values) names.push_back(graph.value(id).name);
  return names;
}

/// Returns the largest difference relative to the largest element.
double difference(const std::vector<ir::Tensor>& a, const std::vector<ir::Tensor>& b) {
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].dtype != ir::DType::kF32) continue;
    double largest = 1e-30, error = 0;
    for (size_t k = 0; k < a[i].data<float>().size(); ++k) {
      const double expected = static_cast<double>(a[i].data<float>()[k]);
      largest = std::max(largest, std::abs(expected));
      error = std::max(error, std::abs(static_cast<double>(b[i].data<float>()[k]) - expected));
    }
    worst = std::max(worst, error / largest);
  }
  return worst;
}

ValueId add_weights(Graph& graph, Random& random, const ir::Shape& shape,
                    const std::vector<double>& row_scale,
                    const std::vector<double>& column_scale = {}) {
  ir::Tensor tensor = ir::zeros(ir::DType::kF32, shape);
  const auto w = tensor.data<float>();
  const size_t terms = w.size() / static_cast<size_t>(shape[0]);
  for (size_t i = 0; i < w.size(); ++i) {
    const double column = column_scale.empty() ? 1 : column_scale[i % terms];
    w[i] = static_cast<float>(random.real(-1, 1) * row_scale[i / terms] * column);
  }
  return graph.add_constant("w", std::make_shared<const ir::Tensor>(std::move(tensor)));
}

ValueId add(Graph& graph, ir::OpKind kind, std::vector<ValueId> inputs, ir::Attrs attrs) {
  auto id = graph.add(kind, std::move(inputs), std::move(attrs));
  EXPECT_TRUE(id.ok()) << (id.ok() ? "" : id.error().message);
  return id.ok() ? *id : ir::kNoValue;
}

ir::Attrs windows(int64_t padding, int64_t groups) {
  return {{ir::attr::stride, std::vector<int64_t>{1, 1}},
          {ir::attr::padding, std::vector<int64_t>(4, padding)},
          {ir::attr::dilation, std::vector<int64_t>{1, 1}},
          {ir::attr::groups, groups}};
}

/// A pointwise convolution whose channels differ by a factor of 1,000, relu, a depthwise
/// convolution that compensates the factors, relu, and a pointwise convolution.
Graph badly_scaled(uint64_t seed) {
  constexpr int64_t kChannels = 16;
  Random random(seed);
  std::vector<double> scale(kChannels), inverse(kChannels), ones(kChannels, 1);
  for (size_t c = 0; c < scale.size(); ++c) {
    scale[c] = std::pow(1000, static_cast<double>(c) / (kChannels - 1));
    inverse[c] = 1 / scale[c];
  }
  Graph graph;
  const ValueId x = graph.add_input("x", {ir::DType::kF32, {1, 8, 8, 8}, {}, {}});
  ValueId y = add(graph, ir::OpKind::conv2d,
                  {x, add_weights(graph, random, {kChannels, 8, 1, 1}, scale), ir::kNoValue},
                  windows(0, 1));
  y = add(graph, ir::OpKind::clamp, {y}, {{ir::attr::float_min, 0.0}});
  y = add(graph, ir::OpKind::conv2d,
          {y, add_weights(graph, random, {kChannels, 1, 3, 3}, inverse), ir::kNoValue},
          windows(1, kChannels));
  y = add(graph, ir::OpKind::clamp, {y}, {{ir::attr::float_min, 0.0}});
  y = add(graph, ir::OpKind::conv2d,
          {y, add_weights(graph, random, {8, kChannels, 1, 1}, ones), ir::kNoValue}, windows(0, 1));
  graph.add_output(y);
  return graph;
}

double sqnr_db(const Graph& graph, const quant::QuantizeOptions& options) {
  const auto model = quant::quantize(graph, random_calibration(graph, 5, 16), {}, options);
  EXPECT_TRUE(model.ok()) << (model.ok() ? "" : model.error().message);
  return model.ok() ? model->report.output_sqnr_db[0] : 0;
}

TEST(Equalize, KeepsTheFunctionOfRandomNetworks) {
  int regions_seen = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    const auto graph = passes::run_float_passes(random_network(seed, 20));
    ASSERT_TRUE(graph.ok());
    const quant::ChannelGroups channel_groups = quant::find_channel_groups(*graph);
    Random random(seed);
    quant::ChannelFactors factors;
    for (const quant::ChannelGroup& channel_group : channel_groups.channel_groups) {
      std::vector<double> one(static_cast<size_t>(channel_group.channels));
      for (double& f : one) f = std::exp2(random.real(-3, 3));
      factors.push_back(std::move(one));
    }
    regions_seen += static_cast<int>(channel_groups.channel_groups.size());
    const auto scaled = quant::scale_channels(*graph, channel_groups, factors);
    ASSERT_TRUE(scaled.ok()) << scaled.error().message;
    ASSERT_TRUE(ir::verify(*scaled).ok());
    const auto inputs = random_inputs(*graph, seed);
    const auto before = eval::evaluate(*graph, inputs), after = eval::evaluate(*scaled, inputs);
    ASSERT_TRUE(before.ok() && after.ok());
    EXPECT_LT(difference(*before, *after), 1e-5) << "seed " << seed;
  }
  EXPECT_GT(regions_seen, 30);
}

/// Factors pass through relu, pools, zero padding, a residual sum and a flatten, between
/// convolutions and a linear.
TEST(Equalize, RegionIncludesOperatorsThatPassFactors) {
  Random random(3);
  const std::vector<double> ones(64, 1);
  Graph graph;
  const auto weights = [&](const ir::Shape& shape) {
    return add_weights(graph, random, shape, ones);
  };
  const ValueId x = graph.add_input("x", {ir::DType::kF32, {1, 2, 8, 8}, {}, {}});
  const ValueId a =
      add(graph, ir::OpKind::conv2d, {x, weights({6, 2, 1, 1}), ir::kNoValue}, windows(0, 1));
  const ValueId relu = add(graph, ir::OpKind::clamp, {a}, {{ir::attr::float_min, 0.0}});
  const ValueId inner =
      add(graph, ir::OpKind::conv2d, {relu, weights({6, 3, 1, 1}), ir::kNoValue}, windows(0, 2));
  const ValueId sum = add(graph, ir::OpKind::add, {relu, inner}, {});
  const ValueId pad = add(graph, ir::OpKind::pad, {sum},
                          {{ir::attr::before, std::vector<int64_t>{0, 0, 1, 1}},
                           {ir::attr::after, std::vector<int64_t>{0, 0, 1, 1}}});
  const ValueId pool = add(graph, ir::OpKind::avg_pool2d, {pad},
                           {{ir::attr::kernel, std::vector<int64_t>{2, 2}},
                            {ir::attr::stride, std::vector<int64_t>{2, 2}},
                            {ir::attr::padding, std::vector<int64_t>{0, 0, 0, 0}}});
  const ValueId flat =
      add(graph, ir::OpKind::reshape, {pool}, {{ir::attr::shape, std::vector<int64_t>{1, 6 * 25}}});
  const ValueId y = add(graph, ir::OpKind::linear, {flat, weights({4, 6 * 25}), ir::kNoValue}, {});
  graph.add_output(y);
  ASSERT_TRUE(ir::verify(graph).ok());

  const quant::ChannelGroups channel_groups = quant::find_channel_groups(graph);
  ASSERT_EQ(channel_groups.channel_groups.size(), 1U);
  EXPECT_EQ(channel_groups.channel_groups[0].values,
            (std::vector<ValueId>{a, relu, inner, sum, pad, pool, flat}));
  EXPECT_EQ(channel_groups.layouts[static_cast<size_t>(flat)].inner, 25);
  EXPECT_TRUE(channel_groups.channel_groups[0].dense);
  const auto scaled = quant::scale_channels(graph, channel_groups, {{0.1, 1, 3, 8, 0.5, 20}});
  ASSERT_TRUE(scaled.ok());
  const auto inputs = random_inputs(graph, 4);
  EXPECT_LT(difference(*eval::evaluate(graph, inputs), *eval::evaluate(*scaled, inputs)), 1e-5);
  // The factors were applied: the first weights are divided by the channel's factor.
  const auto first = [&](const Graph& of) {
    return of.value(of.ops()[0].inputs[1]).constant->data<float>()[0];
  };
  EXPECT_FLOAT_EQ(first(*scaled), first(graph) / 0.1F);
}

/// Returns the region of two convolutions with `between`, from %c to %y, between them.
std::vector<std::string> region_behind(const std::string& between) {
  const Graph graph = parsed(R"(
    input %x: f32[1,1,4,4]
    const %w: f32[2,1,1,1] = 0x0000803f000000c0
    const %v: f32[1,2,1,1] = 0x0000803f000000c0
    %c: f32[1,2,4,4] = conv2d(%x, %w, _) {stride=[1,1], padding=[0,0,0,0], dilation=[1,1]}
  )" + between + R"(
    %z: f32[1,1,4,4] = conv2d(%y, %v, _) {stride=[1,1], padding=[0,0,0,0], dilation=[1,1]}
    output %z)");
  const quant::ChannelGroups channel_groups = quant::find_channel_groups(graph);
  return channel_groups.channel_groups.empty() ? std::vector<std::string>()
                                               : group_of(graph, channel_groups.channel_groups[0]);
}

TEST(Equalize, RegionEndsAtOperatorsThatDoNotPassFactors) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(region_behind("%y: f32[1,2,4,4] = clamp(%c) {min=0}"), (Names{"c", "y"}));
  EXPECT_EQ(region_behind("%y: f32[1,2,4,4] = clamp(%c) {min=0, max=6}"), Names{});
  EXPECT_EQ(region_behind("%y: f32[1,2,4,4] = tanh(%c)"), Names{});
  EXPECT_EQ(region_behind("%y: f32[1,2,4,4] = clamp(%c) {min=0} output %y"), Names{});
  EXPECT_EQ(region_behind("%y: f32[1,2,4,4] = clamp(%c) {min=0} %o: f32[1,2,4,4] = sigmoid(%y) "
                          "output %o"),
            Names{});
}

TEST(Equalize, ImprovesSqnrOfUnequalChannels) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const Graph graph = badly_scaled(seed);
    quant::QuantizeOptions plain, equalized, tuned;
    equalized.equalize = true;
    tuned.tune = true;
    const double before = sqnr_db(graph, plain);
    EXPECT_GT(sqnr_db(graph, equalized), before + 10) << "seed " << seed;
    EXPECT_GT(sqnr_db(graph, tuned), before + 10) << "seed " << seed;
  }
}

TEST(Tune, ReportsTrialsAndKeepsOnlyGains) {
  quant::QuantizeOptions options;
  options.tune = true;
  const Graph graph = badly_scaled(1);
  std::string first;
  for (const int threads : {1, 3}) {
    options.threads = threads;
    const auto model = quant::quantize(graph, random_calibration(graph, 5, 16), {}, options);
    ASSERT_TRUE(model.ok());
    std::string text = ir::print(model->graph);
    ASSERT_GT(model->report.trials.size(), 3U);
    EXPECT_EQ(model->report.trials[0].tool, "equalize");
    EXPECT_TRUE(model->report.trials[0].kept);
    for (const quant::Trial& trial : model->report.trials) {
      EXPECT_TRUE(!trial.kept || trial.after_db >= trial.before_db + quant::kMinGainDb)
          << trial.where;
      text += fmt::format("\n{} {} {} {}", trial.tool, trial.where, trial.after_db, trial.kept);
    }
    if (first.empty()) first = text;
    EXPECT_EQ(first, text) << threads << " threads";
  }
}

}  // namespace
}  // namespace thimble::test
