// Shorter ranges of large activations, and scales of sigmoid and tanh with small results.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "quant/shorten_range.h"
#include "quant_random_network.h"

namespace thimble::test {
namespace {

using quant::Histogram;

/// Elements from -1 to 1, evenly distributed.
std::vector<float> ramp(int count) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(2.0 * i / (count - 1) - 1));
  }
  return values;
}

Histogram histogram_of(const std::vector<std::vector<float>>& samples) {
  Histogram histogram;
  for (const std::vector<float>& sample : samples) EXPECT_TRUE(histogram.add(sample));
  histogram.extrapolate(samples.size());
  return histogram;
}

TEST(ShorterRange, FewLargeElementsAreClipped) {
  std::vector<float> values = ramp(500000);
  values[7] = 2;
  const quant::Range range = quant::shorter_range(histogram_of({values, values}));
  EXPECT_LT(range.high, 1.7);
  EXPECT_GT(range.high, 1.0);
  EXPECT_NEAR(range.low, -1, 0.02);  // clipping there would cost more
}

TEST(ShorterRange, ClippingCountsFourTimes) {
  // A range that ends at 1.8 has less squared error; four times the clipping is too much.
  std::vector<float> values = ramp(60000);
  values[7] = 2;
  const Histogram histogram = histogram_of({values, values});
  EXPECT_LT(quant::choose_range(histogram, quant::Observer::kMse).high, 1.87);
  EXPECT_GE(quant::shorter_range(histogram).high, 1.87);
}

TEST(ShorterRange, ExtrapolatedSideKeepsItsEnd) {
  std::vector<std::vector<float>> samples;
  for (int i = 0; i < 64; ++i) {
    samples.push_back({-1, 0.5F, 1.0F + static_cast<float>(i) / 64, 0.25F});
  }
  const Histogram histogram = histogram_of(samples);
  ASSERT_GT(histogram.likely_max(), histogram.max());
  EXPECT_EQ(quant::shorter_range(histogram).high, histogram.likely_max());
}

TEST(ShorterRange, OnlyLargeImagesInside) {
  const ir::Graph graph = parsed(R"(
    input %x: f32[1,4,32,32]
    %a: f32[1,4,32,32] = add(%x, %x)
    %p: f32[1,4,1,1] = adaptive_avg_pool2d(%a) {size=[1,1]}
    %r: f32[4,1024] = reshape(%a) {shape=[4,1024]}
    %b: f32[4,1024] = add(%r, %r)
    %c: f32[1,4,32,32] = add(%a, %x)
    output %p
    output %b
    output %c
  )");
  const auto roles = quant::plan(graph);
  ASSERT_TRUE(roles.ok());
  std::vector<ir::ValueId> observed = {graph.inputs()[0]};
  for (const ir::Op& op : graph.ops()) observed.push_back(op.output);
  const auto values = quant::shortenable(graph, *roles, observed);
  ASSERT_EQ(values.size(), 1U);
  EXPECT_EQ(graph.value(values[0]).name, "a");
}

// Half of the input, and its function.
const std::string kHalf = R"(
    input %x: f32[64,1]
    const %w: f32[1,1] = 0x0000003f
    %v: f32[64,1] = linear(%x, %w, _)
)";
const std::string kTanh = "%y: f32[64,1] = tanh(%v) output %y ";

/// Returns the quantization of the table's result, for inputs with this largest magnitude.
ir::Quant quant_of_table(const std::string& body, float magnitude, const quant::QuantSpec& spec) {
  const ir::Graph graph = parsed(body);
  quant::CalibrationData data = random_calibration(graph, 1, 32);
  const auto x = data.inputs[0].data.data<float>();
  float largest = 0;
  for (const float element : x) largest = std::max(largest, std::abs(element));
  for (float& element : x) element *= magnitude / largest;
  const auto model = quant::quantize(graph, data, spec, {});
  EXPECT_TRUE(model.ok()) << (model.ok() ? "" : model.error().message);
  if (!model) return {};
  for (const ir::Op& op : model->graph.ops()) {
    if (op.kind == ir::OpKind::lut) return *model->graph.type(op.output).quant;
  }
  ADD_FAILURE() << "no table";
  return {};
}

TEST(OwnCurves, SmallResultsHaveAFinerScale) {
  quant::QuantSpec spec;
  const ir::Quant fixed = ir::per_tensor(1.0 / 128, 0);
  EXPECT_EQ(quant_of_table(kHalf + kTanh, 0.5F, spec), fixed);
  spec.own_curves = true;
  EXPECT_LT(quant_of_table(kHalf + kTanh, 0.5F, spec).scale[0], 0.4 / 128);  // tanh(0.25) = 0.245
  EXPECT_EQ(quant_of_table(kHalf + kTanh, 8, spec), fixed);
  spec.tables = {"tanh"};  // of an NPU
  EXPECT_EQ(quant_of_table(kHalf + kTanh, 0.5F, spec), fixed);
}

TEST(OwnCurves, ProbabilitiesAreNotAboveOne) {
  quant::QuantSpec spec;
  spec.own_curves = true;
  const std::string sigmoid = "%y: f32[64,1] = sigmoid(%v) output %y ";
  EXPECT_EQ(quant_of_table(kHalf + sigmoid, 8, spec), ir::per_tensor(1.0 / 256, -128));
}

TEST(ShorterRange, LargeActivationsOfANetwork) {
  const ir::Graph graph = parsed(R"(
    input %x: f32[1,8,64,64]
    %a: f32[1,8,64,64] = add(%x, %x)
    %y: f32[1,8,1,1] = mean(%a) {dims=[2,3], keepdim=1}
    output %y
  )");
  quant::CalibrationData data = random_calibration(graph, 1, 32);
  const auto x = data.inputs[0].data.data<float>();
  const std::vector<float> values = ramp(static_cast<int>(x.size()) / 2);
  for (size_t i = 0; i < x.size(); ++i) x[i] = values[i * 7919 % values.size()];
  x[10] = x[80000] = 2;
  const auto scale = [&](int effort) {
    quant::QuantizeOptions options;
    options.effort = effort;
    const auto model = quant::quantize(graph, data, {}, options);
    EXPECT_TRUE(model.ok()) << (model.ok() ? "" : model.error().message);
    for (const ir::Op& op : model->graph.ops()) {
      if (op.kind == ir::OpKind::qadd) return model->graph.type(op.output).quant->scale[0];
    }
    return 0.0;
  };
  EXPECT_NEAR(scale(0), 6.0 / 255, 0.001);
  EXPECT_LT(scale(1), 0.95 * scale(0));
}

}  // namespace
}  // namespace thimble::test
