// SPDX-License-Identifier: Apache-2.0
// Inputs with a wide range, float32 operators between quantized ones, and the options that are
// tried because of a low SQNR.

#include <gtest/gtest.h>

#include <cmath>

#include "driver/input_resolution.h"
#include "driver/output_quality.h"
#include "driver/recipe.h"
#include "driver/tried_options.h"
#include "ir_random_graph.h"
#include "passes/pipeline.h"
#include "quant/quantize.h"

namespace thimble::test {
namespace {

using ir::OpKind;

constexpr int64_t kInputs = 16, kOutputs = 8, kSamples = 24;

ir::ValueId weights(ir::Graph& graph, Random& random, const ir::Shape& shape, float size) {
  ir::Tensor tensor = ir::zeros(ir::DType::kF32, shape);
  for (float& value : tensor.data<float>()) {
    value = size * static_cast<float>(random.between(-1000, 1000)) / 1000;
  }
  return graph.add_constant("w", std::make_shared<ir::Tensor>(std::move(tensor)));
}

ir::Source source_in(const std::string& module) {
  ir::Source source;
  source.module = module;
  return source;
}

/// x [1,4,4] permuted, reshaped, and multiplied twice: y = B tanh(A x).
ir::Graph network() {
  ir::Graph graph;
  Random random(1);
  const auto x = graph.add_input("x", {ir::DType::kF32, {1, 4, 4}, {}, {}});
  const auto turned =
      *graph.add(OpKind::permute, {x}, {{ir::attr::dims, std::vector<int64_t>{0, 2, 1}}});
  const auto row =
      *graph.add(OpKind::reshape, {turned}, {{ir::attr::shape, std::vector<int64_t>{1, kInputs}}});
  const auto a = *graph.add(OpKind::linear,
                            {row, weights(graph, random, {kOutputs, kInputs}, 200), ir::kNoValue},
                            {}, source_in("first"));
  const auto t = *graph.add(OpKind::tanh, {a}, {}, source_in("first"));
  const auto y =
      *graph.add(OpKind::linear, {t, weights(graph, random, {kOutputs, kOutputs}, 1), ir::kNoValue},
                 {}, source_in("second"));
  graph.add_output(y);
  return graph;
}

/// Nearly all values are small, and a few are 1000 times as large, as in a power spectrum.
quant::CalibrationData wide_data() {
  Random random(2);
  ir::Tensor data = ir::zeros(ir::DType::kF32, {kSamples, 4, 4});
  const auto values = data.data<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(random.between(-1000, 1000)) * (i % 97 == 0 ? 1e-2F : 1e-6F);
  }
  return {{{"x", std::move(data)}}};
}

const ir::Op* find(const ir::Graph& graph, OpKind kind) {
  for (const ir::Op& op : graph.ops()) {
    if (op.kind == kind) return &op;
  }
  return nullptr;
}

bool first_linear(const ir::Graph& graph, const ir::Op& op) {
  return op.kind == OpKind::linear && op.source.module == "first" && graph.ops().size() > 1;
}

TEST(FloatOperators, MovementBeforeThemStaysFloat) {
  const ir::Graph graph = *passes::run_float_passes(network());
  quant::QuantizeOptions options;
  options.keep_float = first_linear;
  const auto quantized = quant::quantize(graph, wide_data(), {}, options);
  ASSERT_TRUE(quantized.ok()) << quantized.error().message;
  const ir::Op* const linear = find(quantized->graph, OpKind::linear);
  ASSERT_NE(linear, nullptr);
  // The operand is float without a quantize and a dequantize in between.
  const auto producers = quantized->graph.producers();
  ir::ValueId at = linear->inputs[0];
  while (producers[ir::index_of(at)] >= 0) {
    const ir::Op& op = quantized->graph.ops()[static_cast<size_t>(producers[ir::index_of(at)])];
    EXPECT_TRUE(op.kind == OpKind::permute || op.kind == OpKind::reshape) << ir::op_name(op.kind);
    at = op.inputs[0];
  }
  EXPECT_TRUE(quantized->graph.is_input(at));
}

TEST(FloatOperators, ResultHas16BitsForA16BitReader) {
  const ir::Graph graph = *passes::run_float_passes(network());
  quant::QuantizeOptions options;
  options.keep_float = first_linear;
  options.wide = [](const ir::Graph&, const ir::Op&) { return true; };
  const auto quantized = quant::quantize(graph, wide_data(), {}, options);
  ASSERT_TRUE(quantized.ok()) << quantized.error().message;
  const ir::Op* const quantize = find(quantized->graph, OpKind::quantize);
  ASSERT_NE(quantize, nullptr);
  EXPECT_EQ(quantized->graph.type(quantize->output).dtype, ir::DType::kI16);
  EXPECT_EQ(find(quantized->graph, OpKind::rescale), nullptr);
}

TEST(RecurrentLayers, CellHasTheResolutionOfItsRange) {
  constexpr int64_t kSteps = 12, kHidden = 8, kFeatures = 4;
  for (const bool wide : {false, true}) {
    ir::Graph graph;
    Random random(3);
    const auto x = graph.add_input("x", {ir::DType::kF32, {kSteps, 1, kFeatures}, {}, {}});
    const auto zeros = [&] { return weights(graph, random, {1, 1, kHidden}, 0); };
    std::vector<ir::ValueId> operands = {x, zeros(), zeros()};
    operands.push_back(weights(graph, random, {4 * kHidden, kFeatures}, 1));
    operands.push_back(weights(graph, random, {4 * kHidden, kHidden}, 1));
    operands.insert(operands.end(), 2, ir::kNoValue);
    graph.add_output(*graph.add(OpKind::lstm, operands, {}));
    ir::Tensor data = ir::zeros(ir::DType::kF32, {kSamples, kSteps, 1, kFeatures});
    for (float& value : data.data<float>()) {
      value = static_cast<float>(random.between(-1000, 1000)) / 1000;
    }
    quant::QuantizeOptions options;
    if (wide) options.wide = [](const ir::Graph&, const ir::Op&) { return true; };
    const auto quantized = quant::quantize(graph, {{{"x", std::move(data)}}}, {}, options);
    ASSERT_TRUE(quantized.ok()) << quantized.error().message;
    const ir::Op* const lstm = find(quantized->graph, OpKind::qlstm);
    ASSERT_NE(lstm, nullptr);
    // The cell is below 2 * 1.25, so at least 13 fractional bits fit 16 bits.
    EXPECT_GE(lstm->get(ir::attr::c_bits), 13) << "wide " << wide;
  }
}

TEST(InputResolution, WarnsIfMostValuesBecomeZero) {
  const ir::Graph graph = *passes::run_float_passes(network());
  driver::Samples samples{wide_data(), {}};
  const auto quantized = quant::quantize(graph, samples.data, {}, {});
  ASSERT_TRUE(quantized.ok()) << quantized.error().message;
  const auto warnings = driver::input_resolution_warnings(quantized->graph, samples);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("log(x + e)"), std::string::npos) << warnings[0];
  quant::QuantizeOptions options;
  options.keep_float = first_linear;
  const auto kept = quant::quantize(graph, samples.data, {}, options);
  EXPECT_TRUE(driver::input_resolution_warnings(kept->graph, samples).empty());
  for (float& value : samples.data.inputs[0].data.data<float>()) value = std::cbrt(value);
  EXPECT_TRUE(driver::input_resolution_warnings(quant::quantize(graph, samples.data, {}, {})->graph,
                                                samples)
                  .empty());
}

TEST(RangeWarning, CountsTheSignalOfFewLargeValues) {
  ir::Tensor data = ir::zeros(ir::DType::kF32, {1000});
  for (float& value : data.data<float>()) value = 0.1F;
  data.data<float>()[3] = 0.9F;
  EXPECT_EQ(driver::range_warning("x", data, {0, 1}), "");
  data.data<float>()[7] = 2.2F;  // one of 1000 values, and a third of the signal
  EXPECT_NE(driver::range_warning("x", data, {0, 1}).find("saturate"), std::string::npos);
}

TEST(TriedOptions, NamesAnOptionWithItsMeasuredSqnr) {
  driver::FloatModel model{
      "net.pt2", {}, *passes::run_float_passes(network()), driver::OpProvenance({}), {}};
  driver::Calibration data;
  data.samples.data = wide_data();
  const auto part = engine::find_part("cortex-m55");
  ASSERT_TRUE(part.ok());
  driver::CompileOptions options;
  options.target = "cortex-m55";
  options = driver::with_recipe(options, part->recipe);
  const auto arithmetic = driver::arithmetic_of(options, *part);
  const auto quantized = driver::quantize_model(model, data, options, arithmetic);
  ASSERT_TRUE(quantized.ok()) << quantized.error().message;
  const double before = *driver::lowest_sqnr_db(quantized->report);
  ASSERT_LT(before, driver::kWarnSqnrDb);
  const auto tried = driver::try_options({model, data, options, *part}, *quantized);
  ASSERT_TRUE(tried.ok()) << tried.error().message;
  const quant::TriedOption* const best = driver::best_option(*tried, before);
  ASSERT_NE(best, nullptr);
  EXPECT_GE(best->sqnr_db, driver::kGoodSqnrDb) << best->text;
  // The option gives what was measured.
  driver::CompileOptions chosen = options;
  if (best->text.find("--activations int16") != std::string::npos) chosen.wide_activations = true;
  if (best->text.find("--quant first=float") != std::string::npos) {
    chosen.quant.push_back({"first", driver::Precision::kFloat});
  }
  const auto again =
      driver::quantize_model(model, data, chosen, driver::arithmetic_of(chosen, *part));
  EXPECT_EQ(*driver::lowest_sqnr_db(again->report), best->sqnr_db) << best->text;
}

TEST(TriedOptions, ASmallGainIsNoOption) {
  const std::vector<quant::TriedOption> tried = {{"--activations int16", 9, 1}};
  EXPECT_EQ(driver::best_option(tried, 7), nullptr);
  EXPECT_EQ(driver::best_option({}, 7), nullptr);
  EXPECT_NE(driver::best_option(tried, 5), nullptr);
}

}  // namespace
}  // namespace thimble::test
