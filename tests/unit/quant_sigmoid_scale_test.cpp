// SPDX-License-Identifier: Apache-2.0
// Scales of sigmoid and tanh with small results.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "quant/quantize.h"
#include "quant_random_network.h"

namespace thimble::test {
namespace {

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

TEST(SigmoidScale, SmallResultsHaveAFinerScale) {
  quant::QuantSpec spec;
  const ir::Quant fixed = ir::per_tensor(1.0 / 128, 0);
  EXPECT_EQ(quant_of_table(kHalf + kTanh, 0.5F, spec), fixed);
  spec.sigmoid_scale_from_range = true;
  EXPECT_LT(quant_of_table(kHalf + kTanh, 0.5F, spec).scale[0], 0.4 / 128);  // tanh(0.25) = 0.245
  EXPECT_EQ(quant_of_table(kHalf + kTanh, 8, spec), fixed);
  spec.tables = {"tanh"};  // of an NPU
  EXPECT_EQ(quant_of_table(kHalf + kTanh, 0.5F, spec), fixed);
}

TEST(SigmoidScale, ProbabilitiesAreNotAboveOne) {
  quant::QuantSpec spec;
  spec.sigmoid_scale_from_range = true;
  const std::string sigmoid = "%y: f32[64,1] = sigmoid(%v) output %y ";
  EXPECT_EQ(quant_of_table(kHalf + sigmoid, 8, spec), ir::per_tensor(1.0 / 256, -128));
}

}  // namespace
}  // namespace thimble::test
