// SPDX-License-Identifier: Apache-2.0
// 16-bit activations: everywhere, for selected operators, and where an accuracy requires them.

#include <gtest/gtest.h>

#include "eval/evaluate.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/pipeline.h"
#include "quant/simulate.h"
#include "quant_random_network.h"

namespace thimble::test {
namespace {

using ir::DType;
using ir::Op;
using ir::OpKind;

bool everywhere(const ir::Graph&, const Op&) {
  return true;
}

TEST(QuantizeWide, SimulationEqualsEvaluatorAndIsMoreAccurateThanInt8) {
  int closer = 0, compared = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const auto graph = passes::run_float_passes(random_network(seed, 15));
    ASSERT_TRUE(graph.ok());
    const auto data = random_calibration(*graph, seed, 6);
    quant::QuantizeOptions options;
    options.io = seed % 4 == 0 ? quant::Io::kInt8 : quant::Io::kFloat;
    const auto narrow = quant::quantize(*graph, data, {}, options);
    options.wide = everywhere;
    const auto wide = quant::quantize(*graph, data, {}, options);
    ASSERT_TRUE(narrow.ok()) << "seed " << seed << ": " << narrow.error().message;
    ASSERT_TRUE(wide.ok()) << "seed " << seed << ": " << wide.error().message;
    ASSERT_TRUE(ir::verify(wide->graph).ok()) << "seed " << seed;
    const auto inputs = random_inputs(wide->graph, seed);
    EXPECT_EQ(*eval::evaluate(wide->graph, inputs), *quant::simulate(wide->graph, inputs))
        << "seed " << seed;
    if (options.io != quant::Io::kFloat) continue;
    for (size_t i = 0; i < narrow->report.output_sqnr_db.size(); ++i) {
      const double before = narrow->report.output_sqnr_db[i];
      const bool varies = before >= 0 && before <= 150;  // else nearly constant
      if (!varies || wide->report.wide_ops == 0) continue;
      const double gain = wide->report.output_sqnr_db[i] - before;
      ++compared;
      closer += gain > 0 ? 1 : 0;
      EXPECT_GT(gain, -3) << "seed " << seed << " output " << i;
    }
  }
  EXPECT_GT(closer, compared * 95 / 100) << closer << " of " << compared;
}

TEST(QuantizeWide, MixedWidthsSimulationEqualsEvaluator) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const auto graph = passes::run_float_passes(random_network(seed, 15));
    ASSERT_TRUE(graph.ok());
    const auto data = random_calibration(*graph, seed, 4);
    quant::QuantizeOptions options;
    options.io = seed % 5 == 0 ? quant::Io::kInt8 : quant::Io::kFloat;
    const auto narrow = quant::quantize(*graph, data, {}, options);
    ASSERT_TRUE(narrow.ok()) << "seed " << seed << ": " << narrow.error().message;
    options.wide = [seed](const ir::Graph& all, const Op& op) {
      return (std::hash<std::string>()(all.value(op.output).name) + seed) % 3 == 0;
    };
    const auto mixed = quant::quantize(*graph, data, {}, options);
    ASSERT_TRUE(mixed.ok()) << "seed " << seed << ": " << mixed.error().message;
    ASSERT_TRUE(ir::verify(mixed->graph).ok()) << "seed " << seed;
    const auto inputs = random_inputs(mixed->graph, seed);
    EXPECT_EQ(*eval::evaluate(mixed->graph, inputs), *quant::simulate(mixed->graph, inputs))
        << "seed " << seed;
    for (size_t i = 0; i < narrow->report.output_sqnr_db.size(); ++i) {
      const double before = narrow->report.output_sqnr_db[i];
      if (!(before >= 0 && before <= 150)) continue;  // nearly constant output
      EXPECT_GT(mixed->report.output_sqnr_db[i], before - 8) << "seed " << seed << " output " << i;
    }
  }
}

quant::QuantizedModel quantized(const ir::Graph& graph, const quant::QuantizeOptions& options) {
  auto model = quant::quantize(graph, random_calibration(graph, 1, 8), {}, options);
  EXPECT_TRUE(model.ok()) << (model.ok() ? "" : model.error().message);
  return model.ok() ? std::move(*model) : quant::QuantizedModel{};
}

constexpr const char* kThree = R"(
    input %x: f32[1,4]
    input %z: f32[1,4]
    %s: f32[1,4] = sin(%x)
    %p: f32[1,4] = mul(%s, %z)
    %y: f32[1,4] = add(%p, %x)
    output %y
)";

TEST(QuantizeWide, ConvertsBetweenWidths) {
  quant::QuantizeOptions options;
  options.wide = [](const ir::Graph&, const Op& op) { return op.kind == OpKind::mul; };
  const auto model = quantized(parsed(kThree), options);
  // mul reads z, which has no reader in 8 bits, and the result of the table.
  EXPECT_EQ(names_of(model.graph), "quantize quantize lut rescale qmul16 rescale qadd dequantize");
  EXPECT_EQ(model.graph.type(model.graph.ops()[1].output).dtype, DType::kI16);
  EXPECT_EQ(model.report.wide_ops, 3);
  EXPECT_TRUE(model.report.kept_int8.empty());
}

TEST(QuantizeWide, ReportsOperatorsWithoutInt16Rule) {
  quant::QuantizeOptions options;
  options.wide = everywhere;
  const auto model = quantized(parsed(R"(
    input %x: f32[1,4]
    %y: f32[1,4] = cumsum(%x) {dim=1} at "net.py":7
    output %y
)"),
                               options);
  EXPECT_EQ(names_of(model.graph), "quantize qcumsum dequantize");
  ASSERT_EQ(model.report.kept_int8.size(), 1U);
  EXPECT_EQ(model.report.kept_int8[0].reason, "int8: cumsum has no 16-bit form");
  EXPECT_EQ(model.report.kept_int8[0].source.where(), "net.py:7");
}

TEST(QuantizeWide, StatesAndMovementKeepTheWidth) {
  quant::QuantizeOptions options;
  options.wide = everywhere;
  const auto graph = passes::run_float_passes(parsed(R"(
    input %x: f32[1,4]
    state %last: f32[1,4] = 0x00000000000000000000000000000000
    %both: f32[1,8] = concat(%last, %x) {dim=1}
    %half: f32[1,4] = slice(%both) {dim=1, start=2, end=6}
    %other: f32[1,4] = slice(%both) {dim=1, start=1, end=5}
    %y: f32[1,4] = mul(%half, %other)
    update %last = %x
    output %y
)"));
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  const auto model = quantized(*graph, options);
  EXPECT_EQ(names_of(model.graph), "quantize concat slice slice qmul16 dequantize");
  EXPECT_EQ(model.graph.type(model.graph.states()[0].value).dtype, DType::kI16);
}

TEST(QuantizeWide, Int16RangeIsTwiceCalibratedRange) {
  quant::QuantizeOptions options;
  options.wide = everywhere;
  const ir::Graph graph = parsed(kThree);
  const auto data = random_calibration(graph, 1, 8);
  const auto model = quant::quantize(graph, data, {}, options);
  ASSERT_TRUE(model.ok()) << model.error().message;
  float largest = 0;
  for (const float x : data.inputs[0].data.data<float>()) largest = std::max(largest, std::abs(x));
  const ir::Quant& quant = *model->graph.type(model->graph.ops()[0].output).quant;
  EXPECT_NEAR(quant.scale[0] * 32767, 2.0 * static_cast<double>(largest), 1e-4);
}

TEST(QuantizeWide, MasksKeepEightBits) {
  quant::QuantizeOptions options;
  options.wide = everywhere;
  const auto model = quantized(parsed(R"(
    input %x: f32[1,2]
    const %hide: f32[1,2] = 0x00000000000080ff
    %z: f32[1,2] = mul(%x, %x)
    %m: f32[1,2] = add(%z, %hide)
    %y: f32[1,2] = softmax(%m) {dim=1}
    output %y
)"),
                               options);
  EXPECT_NE(names_of(model.graph).find("qmasked_softmax"), std::string::npos)
      << names_of(model.graph);
}

quant::AccuracyGoal sqnr(double least) {
  return {quant::Metric::kSqnr, least, {}};
}

TEST(QuantizeWide, AccuracyGoalWidensMinimalOperators) {
  const auto graph = passes::run_float_passes(random_network(7, 15));
  ASSERT_TRUE(graph.ok());
  quant::QuantizeOptions options;
  const double narrow = quantized(*graph, options).report.output_sqnr_db[0];
  options.goal = sqnr(narrow - 20);
  const auto satisfied = quantized(*graph, options);
  EXPECT_TRUE(satisfied.report.goal->promoted.empty());
  EXPECT_EQ(satisfied.report.wide_ops, 0);

  options.wide = everywhere;
  options.goal.reset();
  const auto all = quantized(*graph, options);
  options.wide = {};
  options.goal = sqnr(satisfied.report.goal->narrow + 4);
  const auto mixed = quantized(*graph, options);
  ASSERT_TRUE(mixed.report.goal);
  EXPECT_GE(mixed.report.goal->reached, mixed.report.goal->least);
  EXPECT_GT(mixed.report.wide_ops, 0);
  EXPECT_LT(mixed.report.wide_ops, all.report.wide_ops);

  options.goal = sqnr(190);
  const auto data = random_calibration(*graph, 1, 8);
  const auto refused = quant::quantize(*graph, data, {}, options);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("int16 for every operator"), std::string::npos)
      << refused.error().message;
}

TEST(QuantizeWide, AccuracyGoalDoesNotDependOnThreads) {
  int reached = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    const auto graph = passes::run_float_passes(random_network(seed, 30));
    ASSERT_TRUE(graph.ok());
    const auto data = random_calibration(*graph, seed, 16);
    quant::QuantizeOptions options;
    const auto narrow = quant::quantize(*graph, data, {}, options);
    ASSERT_TRUE(narrow.ok());
    options.goal = sqnr(narrow->report.output_sqnr_db[0] + 6);
    std::vector<std::string> texts;
    for (const int threads : {1, 8}) {
      options.threads = threads;
      const auto model = quant::quantize(*graph, data, {}, options);
      texts.push_back(model.ok() ? ir::print(model->graph) : model.error().message);
      if (!model.ok()) continue;
      ++reached;
      // Trials end early; the value of the report is that of all samples.
      const auto& goal = *model->report.goal;
      EXPECT_GE(goal.reached, goal.least) << "seed " << seed;
    }
    EXPECT_EQ(texts[0], texts[1]) << "seed " << seed;
  }
  EXPECT_GE(reached, 8);
}

TEST(QuantizeWide, NumberOfLabelsMustEqualNumberOfRows) {
  const ir::Graph graph = parsed(kThree);
  quant::QuantizeOptions options;
  options.goal = {quant::Metric::kTop1, 0.5, {1, 2, 3}};
  const auto refused = quant::quantize(graph, random_calibration(graph, 1, 8), {}, options);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("3 labels for 8 rows"), std::string::npos)
      << refused.error().message;
}

}  // namespace
}  // namespace thimble::test
