// SPDX-License-Identifier: Apache-2.0
// The error of a single operator, and its cause.

#include "tools/local_error.h"

#include <gtest/gtest.h>

#include "eval/evaluate.h"
#include "ir_random_graph.h"
#include "quant/quantize.h"

namespace thimble::test {
namespace {

constexpr int64_t kElements = 64;

/// y = op(x, parameters) of rows of 64 elements.
ir::Graph network(ir::OpKind kind) {
  ir::Graph graph;
  const auto x = graph.add_input("x", {ir::DType::kF32, {1, kElements}, {}, {}});
  std::vector<ir::ValueId> operands = {x};
  ir::Attrs attrs;
  if (kind == ir::OpKind::linear) {
    Random random(1);
    ir::Tensor w = ir::zeros(ir::DType::kF32, {kElements, kElements});
    for (float& value : w.data<float>()) {
      value = static_cast<float>(random.between(-1000, 1000)) / 1000;
    }
    operands.push_back(graph.add_constant("w", std::make_shared<ir::Tensor>(std::move(w))));
    operands.push_back(ir::kNoValue);
  } else {
    operands.insert(operands.end(), 2, ir::kNoValue);
    attrs = {{ir::attr::last_dims, int64_t{1}}, {ir::attr::eps, 1e-5}};
  }
  graph.add_output(*graph.add(kind, operands, attrs));
  return graph;
}

ir::Tensor row(uint64_t seed, float size, float peak) {
  Random random(seed);
  ir::Tensor x = ir::zeros(ir::DType::kF32, {1, kElements});
  for (float& value : x.data<float>()) {
    value = size * static_cast<float>(random.between(-1000, 1000)) / 1000;
  }
  x.data<float>()[5] += peak;
  return x;
}

/// Elements of a row: up to `size`, and one that is larger by `peak`.
struct RowSize {
  float size, peak;
};

/// Quantizes the network with rows of one size, and measures a row of another one.
std::string cause(ir::OpKind kind, RowSize calibrated, RowSize measured) {
  const ir::Graph graph = network(kind);
  ir::Tensor data = ir::zeros(ir::DType::kF32, {16, kElements});
  for (size_t i = 0; i < 16; ++i) {
    const ir::Tensor sample = row(i + 1, calibrated.size, calibrated.peak);
    std::ranges::copy(sample.data<float>(), data.data<float>().begin() + i * kElements);
  }
  const auto quantized = quant::quantize(graph, {{{"x", std::move(data)}}}, {}, {});
  EXPECT_TRUE(quantized.ok()) << quantized.error().message;
  for (const ir::Op& op : quantized->graph.ops()) {
    if (op.kind == ir::OpKind::quantize || op.kind == ir::OpKind::dequantize) continue;
    tools::LocalError error(quantized->graph, op);
    const std::vector<ir::Tensor> inputs = {row(99, measured.size, measured.peak)};
    const ir::Tensor codes =
        tools::quantized_as(inputs[0], quantized->graph.type(error.operands()[0]));
    error.add({codes}, (*eval::evaluate(graph, inputs))[0]);
    return std::string(error.cause());
  }
  return "no operator";
}

TEST(LocalError, NamesTheCause) {
  EXPECT_EQ(cause(ir::OpKind::linear, {1, 0}, {1, 0}), "range");
  EXPECT_EQ(cause(ir::OpKind::linear, {1, 0}, {1, 60}), "clipping");
  // The large element determines the step of the operand, and the others lose their bits.
  EXPECT_EQ(cause(ir::OpKind::linear, {1, 60}, {1, 0}), "rounding");
  // In range of the operand, but the normalized element is larger than all in calibration.
  EXPECT_EQ(cause(ir::OpKind::layer_norm, {4, 0}, {0.1F, 3.5F}), "overflow");
}

TEST(LocalError, QuantizedValuesAreTheNearestOnes) {
  const std::vector<float> values = {-3, -0.26F, 0, 0.24F, 500};
  const ir::Tensor codes = tools::quantized_as(ir::make_f32({5}, values),
                                               {ir::DType::kI8, {5}, {}, ir::per_tensor(0.5, 1)});
  const auto got = codes.data<int8_t>();
  EXPECT_EQ(std::vector<int>(got.begin(), got.end()), (std::vector<int>{-5, 0, 1, 1, 127}));
}

}  // namespace
}  // namespace thimble::test
