// SPDX-License-Identifier: Apache-2.0
// Kernels of the integer engine, compared with the reference evaluator and with exact functions bit
// for bit, at the borders of their blocks; runs that begin with known values; lowerings that share
// weights.

#include <gtest/gtest.h>

#include "ir_random_graph.h"
#include "numerics/fixed_point.h"
#include "numerics/int16.h"
#include "passes/pipeline.h"
#include "quant/fast/code_panel.h"
#include "quant/fast/code_product.h"
#include "quant/fast/pair_lanes.h"
#include "quant/fast/requantize.h"
#include "quant/simulate.h"
#include "quant/trial_runs.h"
#include "quant_random_network.h"

namespace thimble::test {
namespace {

using ir::DType;
using ir::OpKind;
using quant::kRequantizeBlock;

/// Values near the middle of two results, where roundings decide, and random ones.
std::vector<int32_t> values_for(Random& random, int32_t mult, int32_t shift) {
  std::vector<int32_t> values;
  for (int64_t i = 0; i < kRequantizeBlock; ++i) {
    const int64_t code = random.between(-200, 200);
    // value * mult * 2^(shift - 31) = code + 1/2
    const double middle = (static_cast<double>(code) + 0.5) * std::ldexp(1, 31 - shift) / mult;
    const bool fits = std::abs(middle) < 0x1p30 && random.chance(70);
    values.push_back(static_cast<int32_t>(fits
                                              ? static_cast<int64_t>(middle) + random.between(-2, 2)
                                              : random.between(INT32_MIN, INT32_MAX)));
  }
  return values;
}

TEST(Requantize, BlocksEqualExactFunctions) {
  Random random(1);
  for (int round = 0; round < 200'000; ++round) {
    const auto mult = static_cast<int32_t>(random.between(1 << 30, INT32_MAX));
    const auto shift =
        static_cast<int32_t>(random.chance(90) ? random.between(-12, 0) : random.between(-31, 8));
    const bool single = random.chance(30);
    const std::vector<int32_t> values = values_for(random, mult, shift);
    std::vector<int32_t> got = values;
    quant::Requantizer(mult, shift, single).run_block(got.data());
    for (size_t i = 0; i < values.size(); ++i) {
      const int32_t expected = single ? numerics::requantize_single(values[i], mult, shift)
                                      : numerics::requantize(values[i], mult, shift);
      ASSERT_EQ(got[i], expected) << values[i] << " * " << mult << " << " << shift << " single "
                                  << single;
    }
  }
}

TEST(Requantize, BlocksOfWideSumsEqualExactFunction) {
  Random random(2);
  for (int round = 0; round < 200'000; ++round) {
    const auto mult = static_cast<int32_t>(random.between(1 << 30, INT32_MAX));
    const auto shift = static_cast<int32_t>(random.between(-20, 14));
    const int64_t bias = random.chance(50) ? random.between(-100'000, 100'000)
                                           : random.between(-(int64_t{1} << 46), int64_t{1} << 46);
    const std::vector<int32_t> values = values_for(random, mult, shift);
    std::vector<int32_t> got = values;
    quant::WideRequantizer(bias, mult, shift).run_block(got.data());
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(got[i], numerics::requantize64(values[i] + bias, mult, shift))
          << values[i] << " + " << bias << " * " << mult << " << " << shift;
    }
  }
}

TEST(PairLanes, VariantsAreEqual) {
  Random random(3);
  constexpr int64_t kPairs = 5, kRows = quant::kAvx2Rows;
  int16_t panel[kPairs * quant::kPanelElements];
  quant::WeightPair w[kRows * kPairs];
  for (int16_t& value : panel) value = static_cast<int16_t>(random.between(-32768, 32767));
  for (quant::WeightPair& pair : w) {
    pair = {static_cast<int16_t>(random.between(-128, 127)),
            static_cast<int16_t>(random.between(-128, 127))};
  }
  int32_t expected[kRows * quant::kPanelPositions], got[kRows * quant::kPanelPositions];
  const auto by_lanes = [&]<typename Lanes>(int32_t* sums) {
    for (int64_t row = 0; row < kRows; ++row) {
      Lanes low, high;
      for (int64_t pair = 0; pair < kPairs; ++pair) {
        const int16_t* const values = panel + pair * quant::kPanelElements;
        low.add(values, w[row * kPairs + pair]);
        high.add(values + quant::kPanelPositions, w[row * kPairs + pair]);
      }
      low.store(sums + row * quant::kPanelPositions);
      high.store(sums + row * quant::kPanelPositions + quant::kPanelPositions / 2);
    }
  };
  by_lanes.operator()<quant::PlainPairLanes>(expected);
  by_lanes.operator()<quant::PairLanes>(got);
  EXPECT_TRUE(std::ranges::equal(expected, got));
  if (quant::has_avx2_panel()) {
    quant::multiply_code_panel_avx2(w, kPairs, panel, got, quant::kPanelPositions);
    EXPECT_TRUE(std::ranges::equal(expected, got));
  }
  quant::PlainPairLanes plain;
  quant::PairLanes fast;
  plain.add_rows(panel, panel + 7, w[0]);
  fast.add_rows(panel, panel + 7, w[0]);
  plain.store(expected);
  fast.store(got);
  EXPECT_TRUE(std::equal(expected, expected + 4, got));
}

struct ConvCase {
  ir::Shape x, w;
  int64_t groups, stride, pad;
};
/// Odd numbers of terms and outputs, groups, several tiles of positions, planes smaller than a
/// block.
const std::vector<ConvCase> kConvolutions = {
    {{1, 7, 50, 50}, {13, 7, 1, 1}, 1, 1, 0},  {{2, 600, 3, 5}, {9, 600, 1, 1}, 1, 1, 0},
    {{1, 3, 33, 31}, {11, 3, 3, 3}, 1, 2, 1},  {{1, 6, 9, 9}, {12, 2, 3, 3}, 3, 1, 1},
    {{2, 5, 17, 14}, {5, 1, 3, 3}, 5, 1, 1},   {{1, 4, 15, 15}, {8, 1, 5, 5}, 4, 2, 2},
    {{1, 1, 4, 4}, {1, 1, 2, 2}, 1, 1, 0},     {{1, 40, 7, 7}, {33, 40, 3, 3}, 1, 1, 1},
    {{1, 3, 130, 130}, {5, 3, 7, 7}, 1, 2, 3},
};

ir::Graph convolution(const ConvCase& c, bool wide, Random& random, int32_t weight_max) {
  ir::Graph graph;
  const auto constant = [&](ir::Tensor tensor) {
    return graph.add_constant("c", std::make_shared<ir::Tensor>(std::move(tensor)));
  };
  const auto x = graph.add_input("x", {wide ? DType::kI16 : DType::kI8, c.x, {}, {}});
  ir::Tensor w = ir::zeros(DType::kI8, c.w);
  for (int8_t& code : w.data<int8_t>()) {
    code = static_cast<int8_t>(random.between(weight_max == 127 ? 100 : -weight_max, weight_max));
  }
  std::vector<int32_t> mult, shift;
  ir::Tensor bias = ir::zeros(wide ? DType::kI64 : DType::kI32, {c.w[0]});
  for (int64_t o = 0; o < c.w[0]; ++o) {
    mult.push_back(static_cast<int32_t>(random.between(1 << 30, INT32_MAX)));
    shift.push_back(static_cast<int32_t>(random.between(-12, -6)));
    const int64_t add = random.between(-20'000, 20'000);
    if (wide) {
      bias.data<int64_t>()[static_cast<size_t>(o)] = add;
    } else {
      bias.data<int32_t>()[static_cast<size_t>(o)] = static_cast<int32_t>(add);
    }
  }
  ir::Attrs attrs = {{ir::attr::stride, std::vector<int64_t>{c.stride, c.stride}},
                     {ir::attr::padding, std::vector<int64_t>{c.pad, c.pad, c.pad, c.pad}},
                     {ir::attr::dilation, std::vector<int64_t>{1, 1}},
                     {ir::attr::groups, c.groups},
                     {ir::attr::min, int64_t{wide ? -30'000 : -120}},
                     {ir::attr::max, int64_t{wide ? 32'767 : 127}}};
  if (!wide) {
    attrs.set(ir::attr::x_zp, random.between(-128, 127));
    attrs.set(ir::attr::y_zp, random.between(-128, 127));
  }
  const auto y =
      graph.add(wide ? OpKind::qconv2d16 : OpKind::qconv2d,
                {x, constant(std::move(w)), constant(std::move(bias)),
                 constant(ir::make_i32({c.w[0]}, mult)), constant(ir::make_i32({c.w[0]}, shift))},
                std::move(attrs));
  EXPECT_TRUE(y.ok()) << (y.ok() ? "" : y.error().message);
  if (y.ok()) graph.add_output(*y);
  return graph;
}

TEST(Simulate, ConvolutionsEqualTheEvaluator) {
  Random random(4);
  for (const ConvCase& c : kConvolutions) {
    for (const bool wide : {false, true}) {
      const ir::Graph graph = convolution(c, wide, random, 60);
      const auto inputs = random_inputs(graph, 5);
      const auto expected = eval::evaluate(graph, inputs);
      const auto got = quant::simulate(graph, inputs);
      ASSERT_TRUE(expected.ok() && got.ok());
      EXPECT_EQ(*expected, *got) << ir::list_text(c.x) << " " << ir::list_text(c.w) << " " << wide;
    }
  }
}

/// 600 products of 32768 * 127 exceed 2^31.
TEST(Simulate, WideSumsAboveInt32AreExact) {
  Random random(5);
  const ConvCase c = {{1, 600, 3, 3}, {4, 600, 1, 1}, 1, 1, 0};
  const ir::Graph graph = convolution(c, true, random, 127);
  EXPECT_FALSE(quant::sums_fit_int32(graph.value(graph.ops()[0].inputs[1]).constant->data<int8_t>(),
                                     4, 32768));
  std::vector<ir::Tensor> inputs = {ir::zeros(DType::kI16, c.x)};
  for (int16_t& code : inputs[0].data<int16_t>()) code = -32768;
  EXPECT_EQ(*eval::evaluate(graph, inputs), *quant::simulate(graph, inputs));
}

/// A run that gets the first values of another run computes the same outputs with fewer operators.
TEST(FastExecutor, KnownValuesAreNotComputed) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const ir::Graph graph = random_graph(seed, 20);
    if (!graph.states().empty()) continue;
    const auto inputs = random_inputs(graph, seed);
    std::map<ir::ValueId, ir::Tensor> all;
    quant::FastExecutor whole(graph, quant::integer_kernels());
    whole.run(inputs, [&](const ir::Op& op, const ir::Tensor& y) { all[op.output] = y; });
    const std::vector<ir::Tensor> expected = whole.outputs();
    std::vector<std::pair<ir::ValueId, const ir::Tensor*>> known;
    for (size_t i = 0; i < graph.ops().size() / 2; ++i) {
      const ir::ValueId id = graph.ops()[i].output;
      if ((seed + i) % 3 != 0) known.emplace_back(id, &all[id]);
    }
    quant::FastExecutor engine(graph, quant::integer_kernels());
    size_t computed = 0;
    for (int run = 0; run < 2; ++run) {  // the second run computes everything again
      engine.begin(inputs, run == 0 ? known : decltype(known){});
      computed = 0;
      while (engine.step([&](const ir::Op& op, const ir::Tensor& y) {
        ++computed;
        EXPECT_EQ(y, all[op.output]);
      })) {
      }
      EXPECT_EQ(engine.outputs(), expected) << "seed " << seed << " run " << run;
      EXPECT_LE(computed, graph.ops().size() - (run == 0 ? known.size() : 0));
    }
    EXPECT_EQ(computed, graph.ops().size());
  }
}

/// A trial beside the graph with 16 bits everywhere has the outputs of a run on its own.
TEST(TrialRuns, EqualRunsOfTheTrial) {
  size_t shared = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const auto graph = passes::run_float_passes(random_network(seed, 15));
    ASSERT_TRUE(graph.ok());
    const auto data = random_calibration(*graph, seed, 4);
    quant::QuantizeOptions options;
    options.wide = [](const ir::Graph&, const ir::Op&) { return true; };
    const auto wide = quant::quantize(*graph, data, {}, options);
    options.wide = [seed](const ir::Graph& all, const ir::Op& op) {
      return (std::hash<std::string>()(all.value(op.output).name) + seed) % 5 != 0;
    };
    const auto trial = quant::quantize(*graph, data, {}, options);
    ASSERT_TRUE(wide.ok() && trial.ok());
    const auto same = quant::equal_values(trial->graph, wide->graph);
    for (const ir::Op& op : trial->graph.ops()) {
      shared += same[ir::index_of(op.output)] == ir::kNoValue ? 0 : 1;
    }
    const auto samples = quant::Samples::check(*graph, data);
    ASSERT_TRUE(samples.ok());
    const auto expected = quant::integer_outputs(trial->graph, *samples, {4, 1});
    for (const int threads : {1, 3}) {
      quant::TrialRuns runs(wide->graph, *samples, 0, 4, threads);
      for (size_t op = 0; op <= wide->graph.ops().size(); op += 3) {
        runs.advance_to(op);
        EXPECT_EQ(runs.outputs(trial->graph), expected) << "seed " << seed << " operator " << op;
      }
    }
  }
  EXPECT_GT(shared, 100U);
}

}  // namespace
}  // namespace thimble::test
