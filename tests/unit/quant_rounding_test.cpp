// SPDX-License-Identifier: Apache-2.0
// Rounding of weights with the second moments of their operands, and the choice of an observer.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <vector>

#include "ir/print.h"
#include "ir/weight_bits.h"
#include "quant/adaptive_rounding.h"
#include "quant/group_weights.h"
#include "quant/quantize.h"
#include "quant_random_network.h"

namespace thimble::test {
namespace {

using ir::Graph;
using ir::ValueId;

constexpr int64_t kTerms = 16, kColumns = 512, kOutputs = 4;
constexpr double kScale = 0.01;

/// Columns whose terms are almost equal, like the elements of a patch.
quant::OperandMatrix alike_terms() {
  Random random(1);
  quant::OperandMatrix operand;
  operand.terms = kTerms;
  operand.outputs = kOutputs;
  operand.per_sample = operand.columns = kColumns;
  operand.elements.resize(static_cast<size_t>(kTerms * kColumns));
  for (size_t c = 0; c < kColumns; ++c) {
    const double common = random.real(-1, 1);
    for (size_t t = 0; t < kTerms; ++t) {
      operand.elements[t * kColumns + c] =
          static_cast<float>(common + 0.05 * random.real(-1, 1) + 3);
    }
  }
  return operand;
}

/// Returns the mean square of the error of a result about its mean.
double error_of(const quant::OperandMatrix& operand, std::span<const float> w,
                std::span<const int8_t> codes) {
  double sum = 0, squares = 0;
  for (size_t c = 0; c < kColumns; ++c) {
    double error = 0;
    for (size_t t = 0; t < kTerms; ++t) {
      error += (codes[t] * kScale - static_cast<double>(w[t])) *
               static_cast<double>(operand.elements[t * kColumns + c]);
    }
    sum += error;
    squares += error * error;
  }
  return squares / kColumns - sum * sum / (double{kColumns} * kColumns);
}

constexpr auto kGroup = static_cast<size_t>(ir::kWeightGroup);

/// Normally distributed weights of one channel; groups differ in magnitude.
std::vector<float> grouped_weights(size_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> w(count);
  for (size_t i = 0; i < count; ++i) {
    double sum = 0;
    for (int k = 0; k < 12; ++k) sum += random.real(-0.5, 0.5);
    w[i] = static_cast<float>(sum * static_cast<double>(1 + i / kGroup % 3));
  }
  return w;
}

double squared_error(std::span<const float> w, const std::function<double(size_t)>& rounded) {
  double error = 0;
  for (size_t i = 0; i < w.size(); ++i) {
    const double difference = rounded(i) - static_cast<double>(w[i]);
    error += difference * difference;
  }
  return error;
}

TEST(GroupScales, LoseLittleAgainstAFloatScalePerGroup) {
  double total = 0, total_ideal = 0, total_channel = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<float> w = grouped_weights(4 * kGroup + kGroup / 2, seed);
    const quant::GroupScales scales = quant::group_scales(w, 0x1p-100);
    ASSERT_EQ(scales.factors.size(), 5U);
    const double grouped = squared_error(w, [&](size_t i) {
      const int32_t factor = scales.factors[i / kGroup];
      const int8_t code = quant::grouped_code(w[i], scales.scale, factor);
      EXPECT_EQ(code % factor, 0);
      EXPECT_TRUE(code / factor >= -8 && code / factor <= 7);
      return code * scales.scale;
    });
    const auto nearest = [](float weight, double scale) {
      return std::clamp(std::nearbyint(static_cast<double>(weight) / scale), -8.0, 7.0) * scale;
    };
    double ideal = 0;
    for (size_t first = 0; first < w.size(); first += kGroup) {
      const auto group = std::span(w).subspan(first, std::min(kGroup, w.size() - first));
      const double scale = quant::int4_weight_scale(group, 0);
      ideal += squared_error(group, [&](size_t i) { return nearest(group[i], scale); });
    }
    const double one = quant::int4_weight_scale(w, 0);
    const double channel = squared_error(w, [&](size_t i) { return nearest(w[i], one); });
    total += grouped;
    total_ideal += ideal;
    total_channel += channel;
  }
  EXPECT_LT(10 * std::log10(total / total_ideal), 0.3);
  EXPECT_GT(10 * std::log10(total_channel / total), 1.5);
}

TEST(GroupScales, AreAtLeastTheMinimum) {
  const std::vector<float> w = grouped_weights(2 * kGroup, 3);
  const double scale_min = 2 * quant::group_scales(w, 0x1p-100).scale;
  EXPECT_GE(quant::group_scales(w, scale_min).scale, scale_min);
}

TEST(AdaptiveRounding, KeepsFactors) {
  const quant::OperandMatrix operand = alike_terms();
  ir::Tensor w = ir::zeros(ir::DType::kF32, {kOutputs, kTerms});
  Random random(5);
  std::vector<int8_t> nearest;
  const std::vector<double> scale(kOutputs, kScale);
  const std::vector<std::vector<uint8_t>> factors = {{3}, {15}, {1}, {8}};
  for (size_t i = 0; i < w.data<float>().size(); ++i) {
    const int32_t factor = factors[i / kTerms][0];
    float& weight = w.data<float>()[i];
    weight = static_cast<float>(random.real(-8, 7) * kScale * factor);
    nearest.push_back(quant::grouped_code(weight, kScale, factor));
  }
  const auto adapted = quant::adapt_rounding(
      {&operand, &w, scale, nearest, 0.01, true, quant::code_range(4), factors});
  bool changed = false;
  for (size_t i = 0; i < nearest.size(); ++i) {
    const int32_t factor = factors[i / kTerms][0], code = adapted.codes.data<int8_t>()[i];
    EXPECT_EQ(code % factor, 0) << i;
    EXPECT_TRUE(code / factor >= -8 && code / factor <= 7) << i;
    changed = changed || code != nearest[i];
  }
  EXPECT_TRUE(changed);
}

TEST(AdaptiveRounding, LowersTheErrorOfResults) {
  const quant::OperandMatrix operand = alike_terms();
  ir::Tensor w = ir::zeros(ir::DType::kF32, {kOutputs, kTerms});
  Random random(2);
  std::vector<int8_t> nearest;
  for (size_t i = 0; i < w.data<float>().size(); ++i) {
    float& weight = w.data<float>()[i];
    if (i % kTerms != 5) weight = static_cast<float>(random.real(-1, 1));
    nearest.push_back(static_cast<int8_t>(std::nearbyint(static_cast<double>(weight) / kScale)));
  }
  const std::vector<double> scale(kOutputs, kScale);
  const auto adapted = quant::adapt_rounding({&operand, &w, scale, nearest, 0.01, true});
  double before = 0, after = 0;
  for (size_t o = 0; o < kOutputs; ++o) {
    const auto row = w.data<float>().subspan(o * kTerms, kTerms);
    const auto codes = adapted.codes.data<int8_t>().subspan(o * kTerms, kTerms);
    before += error_of(operand, row, std::span(nearest).subspan(o * kTerms, kTerms));
    after += error_of(operand, row, codes);
    EXPECT_EQ(codes[5], 0) << "a weight of 0";
    for (size_t t = 0; t < kTerms; ++t) {
      EXPECT_LE(std::abs(codes[t] - nearest[o * kTerms + t]), 2) << o << ", " << t;
    }
  }
  EXPECT_LT(after, before / 4);
}

/// A convolution of smooth images.
Graph smooth_convolution() {
  Random random(3);
  Graph graph;
  const ValueId x = graph.add_input("x", {ir::DType::kF32, {1, 4, 16, 16}, {}, {}});
  ir::Tensor w = ir::zeros(ir::DType::kF32, {8, 4, 3, 3}), b = ir::zeros(ir::DType::kF32, {8});
  for (float& weight : w.data<float>()) weight = static_cast<float>(random.real(0, 1));
  const ValueId weights = graph.add_constant("w", std::make_shared<const ir::Tensor>(std::move(w)));
  const ValueId bias = graph.add_constant("b", std::make_shared<const ir::Tensor>(std::move(b)));
  auto y = graph.add(ir::OpKind::conv2d, {x, weights, bias},
                     {{ir::attr::stride, std::vector<int64_t>{1, 1}},
                      {ir::attr::padding, std::vector<int64_t>{1, 1, 1, 1}},
                      {ir::attr::dilation, std::vector<int64_t>{1, 1}},
                      {ir::attr::groups, int64_t{1}}});
  EXPECT_TRUE(y.ok()) << (y.ok() ? "" : y.error().message);
  if (y.ok()) graph.add_output(*y);
  return graph;
}

quant::CalibrationData smooth_images(int64_t samples) {
  ir::Tensor data = ir::zeros(ir::DType::kF32, {samples, 1, 4, 16, 16});
  const auto x = data.data<float>();
  for (size_t i = 0; i < x.size(); ++i) {
    const auto column = static_cast<double>(i % 16), row = static_cast<double>(i / 16 % 16);
    const auto plane = static_cast<double>(i / 256);
    x[i] = static_cast<float>(std::sin(0.3 * column + 0.2 * row + plane * plane));
  }
  return {{{"x", std::move(data)}}};
}

TEST(AdaptiveRounding, EqualWithAnyNumberOfThreads) {
  const Graph graph = smooth_convolution();
  const quant::CalibrationData data = smooth_images(16);
  std::string first;
  for (const int threads : {1, 8}) {
    quant::QuantizeOptions options;
    options.effort = 1;
    options.threads = threads;
    const auto model = quant::quantize(graph, data, {}, options);
    ASSERT_TRUE(model.ok()) << model.error().message;
    std::string bytes;
    for (const ir::Op& op : model->graph.ops()) {
      for (const ValueId id : op.inputs) {
        if (id == ir::kNoValue || model->graph.value(id).constant == nullptr) continue;
        const auto& constant = model->graph.value(id).constant->bytes;
        bytes.append(reinterpret_cast<const char*>(constant.data()), constant.size());
      }
    }
    if (first.empty()) first = bytes;
    EXPECT_EQ(bytes, first);
    ASSERT_TRUE(model->report.rounding.has_value());
    EXPECT_EQ(model->report.rounding->operators, 1);
    EXPECT_GT(model->report.rounding->after_db, model->report.rounding->before_db);
  }
}

/// Most elements are 10.4 steps of the operand, so that each one is rounded down: the result of the
/// layer is too small on average, which its bias corrects.
TEST(OutputBias, RemovesTheMeanError) {
  constexpr size_t kSamples = 16, kElements = 256;
  Graph graph;
  const ValueId x = graph.add_input("x", {ir::DType::kF32, {1, int64_t{kElements}}, {}, {}});
  ir::Tensor w = ir::zeros(ir::DType::kF32, {1, int64_t{kElements}});
  std::ranges::fill(w.data<float>(), 1.0F);
  const ValueId weights = graph.add_constant("w", std::make_shared<const ir::Tensor>(std::move(w)));
  const ValueId bias =
      graph.add_constant("b", std::make_shared<const ir::Tensor>(ir::zeros(ir::DType::kF32, {1})));
  const auto y = graph.add(ir::OpKind::linear, {x, weights, bias}, {});
  ASSERT_TRUE(y.ok()) << y.error().message;
  graph.add_output(*y);
  ir::Tensor data = ir::zeros(ir::DType::kF32, {int64_t{kSamples}, 1, int64_t{kElements}});
  for (size_t s = 0; s < kSamples; ++s) {
    const auto row = data.data<float>().subspan(s * kElements, kElements);
    std::fill_n(row.begin(), 160 + 5 * (s * 7 % kSamples), 10.4F / 255);
    row.back() = 1;
  }
  quant::QuantizeOptions options;
  options.effort = 1;
  const auto model = quant::quantize(graph, {{{"x", std::move(data)}}}, {}, options);
  ASSERT_TRUE(model.ok()) << model.error().message;
  const auto& rounding = model->report.rounding;
  ASSERT_TRUE(rounding.has_value());
  EXPECT_EQ(rounding->biases, 1);
  EXPECT_GT(rounding->after_db, rounding->before_db + 10);
}

TEST(AdaptiveRounding, OneSampleCannotBeHeldBack) {
  quant::QuantizeOptions options;
  options.effort = 1;
  const auto model = quant::quantize(smooth_convolution(), smooth_images(1), {}, options);
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_FALSE(model->report.rounding.has_value());
}

/// One element in 16,384 is far outside; tanh is constant there. The default observer clips such
/// elements for a table (reader_range.h), min-max does not.
TEST(ObserverChoice, ClipsElementsThatDoNotMatter) {
  const Graph graph = parsed("  input %x: f32[1,4096]\n  %y: f32[1,4096] = tanh(%x)\n  output %y");
  constexpr size_t kSamples = 64;  // fewer are not compared
  quant::CalibrationData data = random_calibration(graph, 7, kSamples);
  for (size_t sample = 0; sample < kSamples; sample += 4) {
    data.inputs[0].data.data<float>()[sample * 4096] = 100;
  }
  quant::QuantizeOptions options;
  options.observer = quant::Observer::kMinMax;
  for (const int effort : {0, 1, 2}) {
    options.effort = effort;
    options.choose_observer = true;
    const auto model = quant::quantize(graph, data, {}, options);
    ASSERT_TRUE(model.ok()) << model.error().message;
    const auto& choice = model->report.observer_choice;
    ASSERT_EQ(choice.has_value(), effort > 1);
    if (choice) {
      EXPECT_GT(choice->after_db, choice->before_db + 5);
    }
  }
}

}  // namespace
}  // namespace thimble::test
