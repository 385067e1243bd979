// SPDX-License-Identifier: Apache-2.0
// Masked values (docs/quantization.md): masked positions get probability 0, and their values do not
// count in ranges.

#include <gtest/gtest.h>

#include <limits>

#include <algorithm>
#include <cmath>

#include "eval/evaluate.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "quant/masked.h"
#include "quant/quantize.h"
#include "quant_random_network.h"

namespace thimble::test {
namespace {

using ir::OpKind;

struct Model {
  ir::Graph real, integer;
};

/// Quantizes with random samples in [-2, 2] and the resulting ranges. `is_finite`: the outputs of
/// the float graph are numbers.
Model quantized(const std::string& body, const quant::QuantSpec& spec = {}, bool is_finite = true) {
  const auto graph = ir::parse("graph @forward {\n" + body + "\n}", "test");
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().message);
  quant::QuantizeOptions options;
  options.observer = quant::Observer::kMinMax;
  const auto model = quant::quantize(*graph, random_calibration(*graph, 1, 16), spec, options);
  EXPECT_TRUE(model.ok()) << (model.ok() ? "" : model.error().message);
  EXPECT_TRUE(ir::verify(model->graph).ok());
  for (const double db : model->report.output_sqnr_db) {
    if (is_finite) {
      EXPECT_TRUE(std::isnan(db) || db > 25) << db;  // NaN: a constant output
    } else {
      EXPECT_EQ(db, -std::numeric_limits<double>::infinity());
    }
  }
  return {*graph, model->graph};
}

std::vector<OpKind> kinds(const ir::Graph& graph) {
  std::vector<OpKind> result;
  for (const ir::Op& op : graph.ops()) result.push_back(op.kind);
  return result;
}

/// Compares both graphs on new inputs: 0 where the float graph gives 0, else within `tolerance`.
void expect_near(const Model& model, double tolerance) {
  auto inputs = random_inputs(model.real, 7);
  for (ir::Tensor& input : inputs) {
    for (float& x : input.data<float>()) x *= 0.25F;  // -2..2, the calibrated range
  }
  const auto real = eval::evaluate(model.real, inputs);
  const auto got = eval::evaluate(model.integer, inputs);
  ASSERT_TRUE(real.ok() && got.ok());
  int hidden = 0;
  for (size_t i = 0; i < (*real)[0].data<float>().size(); ++i) {
    const double wanted = static_cast<double>((*real)[0].data<float>()[i]);
    const double found = static_cast<double>((*got)[0].data<float>()[i]);
    if (wanted == 0) {
      EXPECT_EQ(found, 0);
      ++hidden;
    } else {
      EXPECT_NEAR(found, wanted, tolerance);
    }
  }
  EXPECT_GT(hidden, 0);
}

// Each row is 0, 0, -inf, -inf; in the second constant 0, 0, -1e9, -1e9.
constexpr const char* kInfinite = "const %m: f32[1,4] = 0x0000000000000000000080ff000080ff\n";
constexpr const char* kHuge = "const %m: f32[1,4] = 0x0000000000000000286b6ece286b6ece\n";
// 0.5, -1, 0, -1e9
constexpr const char* kBiased = "const %m: f32[1,4] = 0x0000003f000080bf00000000286b6ece\n";

TEST(Masked, PureMaskBecomesMinimum) {
  for (const char* mask : {kInfinite, kHuge}) {
    const Model model = quantized(std::string("input %x: f32[3,4]\n") + mask +
                                  "%s: f32[3,4] = add(%x, %m)\n"
                                  "%y: f32[3,4] = softmax(%s) {dim=1}\n output %y");
    EXPECT_EQ(kinds(model.integer),
              (std::vector<OpKind>{OpKind::quantize, OpKind::minimum, OpKind::qmasked_softmax,
                                   OpKind::dequantize}));
    // The scores keep 255 quantized values for the calibrated range [-2, 2].
    const ir::Quant& scores = *model.integer.type(model.integer.ops()[1].output).quant;
    EXPECT_LT(scores.scale[0], 4.001 / 254);
    expect_near(model, 0.02);
  }
}

TEST(Masked, BiasesAndMasksInOneConstant) {
  const Model model = quantized(std::string("input %x: f32[3,4]\n") + kBiased +
                                "%s: f32[3,4] = add(%x, %m)\n"
                                "%y: f32[3,4] = softmax(%s) {dim=1}\n output %y");
  EXPECT_EQ(kinds(model.integer),
            (std::vector<OpKind>{OpKind::quantize, OpKind::qadd, OpKind::qmasked_softmax,
                                 OpKind::dequantize}));
  expect_near(model, 0.03);
}

TEST(Masked, DataMovementAndSecondMask) {
  const Model model = quantized(std::string("input %x: f32[3,4]\n") + kInfinite +
                                "const %n: f32[3,1] = 0x0000000000000000000080bf\n"
                                "%s: f32[3,4] = add(%x, %m)\n"
                                "%t: f32[3,4] = add(%n, %s)\n"
                                "%u: f32[4,3] = permute(%t) {dims=[1,0]}\n"
                                "%y: f32[4,3] = softmax(%u) {dim=0}\n output %y");
  EXPECT_EQ(model.integer.ops().back().kind, OpKind::dequantize);
  expect_near(model, 0.03);
}

// Only a softmax at the end of the network gets 16 bits.
TEST(WideSoftmax, OnlyFinalSoftmaxGetsInt16) {
  quant::QuantSpec spec;
  spec.wide_softmax = true;
  const Model plain =
      quantized("input %x: f32[3,4]\n%y: f32[3,4] = softmax(%x) {dim=0}\n output %y", spec);
  EXPECT_EQ(kinds(plain.integer),
            (std::vector<OpKind>{OpKind::quantize, OpKind::qsoftmax16, OpKind::dequantize}));
  const Model inside = quantized(
      "input %x: f32[3,4]\n%p: f32[3,4] = softmax(%x) {dim=1}\n"
      "%y: f32[3,4] = mul(%p, %x)\n output %p output %y",
      spec);
  EXPECT_EQ(kinds(inside.integer)[1], OpKind::qsoftmax);
  for (const char* dim : {"0", "1"}) {
    const Model masked = quantized(std::string("input %x: f32[3,4]\n") + kInfinite +
                                       "%s: f32[3,4] = add(%x, %m)\n%y: f32[3,4] = softmax(%s) "
                                       "{dim=" +
                                       dim + "}\n output %y",
                                   spec, dim[0] == '1');  // a column of -inf gives NaN
    const ir::Graph& graph = masked.integer;
    const ir::Type& codes = graph.type(graph.ops().back().inputs[0]);
    EXPECT_EQ(codes.dtype, ir::DType::kI16);
    EXPECT_EQ(codes.quant->scale[0], 1.0 / 32768);
    if (dim[0] == '1') expect_near(masked, 0.02);
  }
}

TEST(Masked, LargeConstantsWithoutSoftmaxAreNotMasks) {
  const auto graph = ir::parse("graph @forward {\n input %x: f32[3,4]\n" + std::string(kHuge) +
                                   "%y: f32[3,4] = add(%x, %m)\n output %y\n}",
                               "test");
  for (const double limit : quant::mask_limits(*graph)) EXPECT_TRUE(std::isnan(limit));
}

TEST(Masked, ParamsReserveOneValueForMask) {
  const quant::Params params = quant::params_for({-1, 1}, true);
  EXPECT_EQ(params.code(-1), -127);
  EXPECT_EQ(params.code(1), 127);
  EXPECT_EQ(params.code(-100), -127);
  EXPECT_EQ(params.code(-1e9), -128);
  EXPECT_EQ(params.code(-INFINITY), -128);
  EXPECT_EQ(params.real(-128), -INFINITY);
  EXPECT_EQ(params.code(params.real(-128)), -128);
  EXPECT_EQ(quant::kPureMask.code(0), 127);
}

/// The mask is an input of the network, not a constant.
TEST(Masked, MaskMayBeAnInput) {
  const auto graph = ir::parse(
      "graph @forward {\n input %x: f32[1,4]\n input %m: f32[1,4]\n"
      "%s: f32[1,4] = add(%x, %m)\n %y: f32[1,4] = softmax(%s) {dim=1}\n output %y\n}",
      "test");
  ASSERT_TRUE(graph.ok());
  quant::CalibrationData data = random_calibration(*graph, 1, 8);
  auto mask = data.inputs[1].data.data<float>();
  for (size_t i = 0; i < mask.size(); ++i) mask[i] = i % 4 == i / 4 % 4 ? -1e9F : 0.0F;
  const auto model = quant::quantize(*graph, data, {}, {});
  ASSERT_TRUE(model.ok()) << model.error().message;
  const auto count = [&](OpKind kind) {
    const auto all = kinds(model->graph);
    return std::count(all.begin(), all.end(), kind);
  };
  EXPECT_EQ(count(OpKind::minimum), 1);
  EXPECT_EQ(count(OpKind::qmasked_softmax), 1);
  const ir::Tensor x = ir::make_f32({1, 4}, std::vector<float>{1, 1, 1, 1});
  const ir::Tensor hide = ir::make_f32({1, 4}, std::vector<float>{0, -1e9F, 0, -INFINITY});
  const auto y = eval::evaluate(model->graph, std::vector<ir::Tensor>{x, hide});
  ASSERT_TRUE(y.ok());
  const auto got = (*y)[0].data<float>();
  EXPECT_EQ(std::vector<float>(got.begin(), got.end()), (std::vector<float>{0.5F, 0, 0.5F, 0}));
}

}  // namespace
}  // namespace thimble::test
