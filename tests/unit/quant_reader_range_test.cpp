// SPDX-License-Identifier: Apache-2.0
// Ranges that are shortened because the readers of a value do not need all of it.

#include <gtest/gtest.h>

#include "quant/reader_range.h"
#include "quant_random_network.h"

namespace thimble::test {
namespace {

/// Returns the parameters of the linear layer's result after quantization.
quant::Params params_of_linear(const std::string& body,
                               quant::Observer observer = quant::kDefaultObserver) {
  const ir::Graph graph = parsed(body);
  quant::QuantizeOptions options;
  options.observer = observer;
  const auto model = quant::quantize(graph, random_calibration(graph, 1, 32), {}, options);
  EXPECT_TRUE(model.ok()) << (model.ok() ? "" : model.error().message);
  if (!model) return {};
  for (const ir::Op& op : model->graph.ops()) {
    if (op.kind != ir::OpKind::qlinear) continue;
    const ir::Quant& quant = *model->graph.type(op.output).quant;
    quant::Params params;
    params.scale = quant.scale[0];
    params.zero_point = static_cast<int32_t>(quant.zero_point[0]);
    return params;
  }
  ADD_FAILURE() << "no qlinear";
  return {};
}

// Eight times the input.
const std::string kLinear = R"(
    input %x: f32[64,1]
    const %w: f32[1,1] = 0x00000041
    %v: f32[64,1] = linear(%x, %w, _)
)";
const std::string kSilu = "%s: f32[64,1] = sigmoid(%v) %y: f32[64,1] = mul(%v, %s) output %y ";

TEST(ReaderRange, FlatPartOfTheFunctionIsClipped) {
  const quant::Params whole = params_of_linear(kLinear + kSilu + "output %v");
  const quant::Params only_silu = params_of_linear(kLinear + kSilu);
  EXPECT_LT(whole.real(-128), -12);
  EXPECT_GT(only_silu.real(-128), -9);
  EXPECT_LT(only_silu.real(-128), -3);
  EXPECT_LT(only_silu.scale, 0.8 * whole.scale);
  EXPECT_NEAR(only_silu.real(127), whole.real(127), 2 * whole.scale);  // silu is not flat there
}

TEST(ReaderRange, BothSidesOfASigmoidAreClipped) {
  const quant::Params params = params_of_linear(kLinear + "%y: f32[64,1] = sigmoid(%v) output %y");
  EXPECT_GT(params.real(-128), -9);
  EXPECT_LT(params.real(127), 9);
}

TEST(ReaderRange, AllTablesCount) {
  // The second table is not flat anywhere.
  const quant::Params whole = params_of_linear(kLinear + kSilu + "output %v");
  const quant::Params both =
      params_of_linear(kLinear + kSilu + "%l: f32[64,1] = abs(%v) output %l");
  EXPECT_EQ(both, whole);
}

TEST(ReaderRange, OtherReadersNeedTheWholeRange) {
  const quant::Params whole = params_of_linear(kLinear + kSilu + "output %v");
  const quant::Params added =
      params_of_linear(kLinear + kSilu + "%a: f32[64,1] = add(%v, %x) output %a");
  EXPECT_EQ(added, whole);
}

TEST(ReaderRange, OnlyTheDefaultObserverIsShortened) {
  const auto observer = quant::Observer::kMinMax;
  EXPECT_EQ(params_of_linear(kLinear + kSilu, observer),
            params_of_linear(kLinear + kSilu + "output %v", observer));
}

TEST(ReaderRange, OperandOfTheLastSoftmaxIsNotExtrapolated) {
  const std::string body = R"(
    input %x: f32[4,1]
    const %w: f32[1,1] = 0x0000803f
    %v: f32[4,1] = linear(%x, %w, _)
    %y: f32[4,1] = softmax(%v) {dim=0}
    output %y )";
  const quant::Params whole = params_of_linear(body + "output %v");
  const quant::Params only_softmax = params_of_linear(body);
  EXPECT_LT(only_softmax.scale, whole.scale);
  EXPECT_EQ(only_softmax, params_of_linear(body, quant::Observer::kMinMax));
}

}  // namespace
}  // namespace thimble::test
