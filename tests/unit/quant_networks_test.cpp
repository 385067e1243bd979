// SPDX-License-Identifier: Apache-2.0
// Quantization of random networks and of the committed ones.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "eval/evaluate.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/pipeline.h"
#include "quant/quality.h"
#include "quant/simulate.h"
#include "quant_models.h"
#include "quant_random_network.h"
#include "tests/folders.h"

namespace thimble::test {
namespace {

TEST(QuantizeRandomNetworks, IsCloseToFloatAndSimulationEqualsEvaluator) {
  int measured = 0, close = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const auto graph = passes::run_float_passes(random_network(seed, 15));
    ASSERT_TRUE(graph.ok());
    const auto data = random_calibration(*graph, seed, 6);
    quant::QuantizeOptions options;
    options.observer = static_cast<quant::Observer>(seed / 2 % 4);
    options.io = seed % 4 == 0 ? quant::Io::kInt8 : quant::Io::kFloat;
    quant::QuantSpec spec;
    if (seed % 2 == 0) spec.linear_weights = quant::LinearWeights::kPerTensorIfClose;
    const auto model = quant::quantize(*graph, data, spec, options);
    ASSERT_TRUE(model.ok()) << "seed " << seed << ": " << model.error().message;
    ASSERT_TRUE(ir::verify(model->graph).ok()) << "seed " << seed;
    for (const ir::Op& op : model->graph.ops()) {
      const ir::DType dtype = model->graph.type(op.output).dtype;
      ASSERT_TRUE(dtype == ir::DType::kI8 || op.kind == ir::OpKind::dequantize) << "seed " << seed;
    }
    const auto inputs = random_inputs(model->graph, seed);
    EXPECT_EQ(*eval::evaluate(model->graph, inputs), *quant::simulate(model->graph, inputs))
        << "seed " << seed;
    for (const quant::OpQuality& op : model->report.ops) {
      if (std::isnan(op.sqnr_db)) continue;  // the float value is constant
      ++measured;
      close += op.sqnr_db > 25 ? 1 : 0;
    }
  }
  // Cancellation makes a few random operators inaccurate.
  EXPECT_GT(close, measured * 97 / 100);
  std::printf("%d of %d operators above 25 dB\n", close, measured);
}

TEST(QuantizeRandomNetworks, ThreadsDoNotChangeTheResult) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto graph = passes::run_float_passes(random_network(seed, 15));
    const auto data = random_calibration(*graph, seed, 9);
    std::string first;
    for (const int threads : {1, 2, 5}) {
      quant::QuantizeOptions options;
      options.threads = threads;
      options.observer = quant::Observer::kMse;
      const auto model = quant::quantize(*graph, data, {}, options);
      ASSERT_TRUE(model.ok());
      std::string text = ir::print(model->graph);
      for (const double db : model->report.output_sqnr_db) text += fmt::format(" {}", db);
      if (first.empty()) first = text;
      EXPECT_EQ(first, text) << "seed " << seed << " threads " << threads;
    }
  }
}

TEST(Decibels, HaveNoSentinels) {
  EXPECT_DOUBLE_EQ(quant::decibels(100, 1), 20);
  EXPECT_EQ(quant::decibels(1, 0), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(quant::decibels(0, 1)));
  EXPECT_TRUE(std::isnan(quant::decibels(0, 0)));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double nan = std::nan("");
  // A masked output, -inf, has no error; another one that is not finite has an infinite error.
  EXPECT_EQ(quant::output_decibels({{-kInfinity, 1}, {-kInfinity, 2}}, {{-9, 1}, {-9, 2}}),
            kInfinity);
  EXPECT_EQ(quant::output_decibels({{5, 1}, {5, 2}}, {{5, nan}, {5, 2}}), -kInfinity);
  EXPECT_EQ(quant::output_decibels({{kInfinity, 1}, {5, 2}}, {{5, 1}, {5, 2}}), -kInfinity);
  for (const double bad : {nan, kInfinity}) {
    EXPECT_EQ(quant::decibels(1, bad), -kInfinity);
    EXPECT_EQ(quant::decibels(0, bad), -kInfinity);
    EXPECT_EQ(quant::decibels(bad, 1), -kInfinity);
  }
  EXPECT_EQ(quant::without_rounding(1e-14, 1), 0);
  EXPECT_EQ(quant::without_rounding(1e-9, 1), 1e-9);
  // An output that is constant over the samples has no SQNR, with or without an error.
  EXPECT_TRUE(std::isnan(quant::output_decibels({{1, 2}, {1, 2}}, {{1, 2.5}, {1, 2}})));
  EXPECT_EQ(quant::output_decibels({{1, 2}, {3, 4}}, {{1, 2}, {3, 4}}),
            std::numeric_limits<double>::infinity());
}

class CommittedNetwork : public testing::TestWithParam<const char*> {};

TEST_P(CommittedNetwork, SqnrIsAtLeastThatOfPt2e) {
  const std::string name = GetParam();
  const std::filesystem::path root = test::source_folder();
  const auto network = load_network(root / "models" / name, 1000);
  ASSERT_TRUE(network.ok()) << network.error().message;
  const auto model = quant::quantize(network->graph, network->calibration, {}, {});
  ASSERT_TRUE(model.ok()) << model.error().message;
  const double sqnr_db = measure_sqnr_db(network->graph, model->graph, network->tests);

  std::ifstream file(root / "benchmarks" / "accuracy" / "peers.json");
  const auto entry = nlohmann::json::parse(file)["networks"][name]["0"];
  double peer_db = entry["cortex_m"]["sqnr_db"][0];
  // XNNPACK's quantizer leaves softmax in float. int8 probabilities in steps of 1/256 cannot reach
  // its SQNR. The Cortex-M quantizer has the same steps.
  bool has_softmax = false;
  for (const ir::Op& op : network->graph.ops()) {
    has_softmax = has_softmax || op.kind == ir::OpKind::softmax;
  }
  if (!has_softmax) peer_db = std::max<double>(peer_db, entry["xnnpack"]["sqnr_db"][0]);
  std::printf("%-18s %.2f dB, PT2E %.2f dB\n", name.c_str(), sqnr_db, peer_db);
  EXPECT_GE(sqnr_db, peer_db - 1);

  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(*eval::evaluate(model->graph, network->tests[i]),
              *quant::simulate(model->graph, network->tests[i]));
  }
}

INSTANTIATE_TEST_SUITE_P(Models, CommittedNetwork,
                         testing::Values("ad_autoencoder", "digits_cnn", "dscnn_kws", "hello_sin",
                                         "mobilenet_v1_vww", "resnet8"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace thimble::test
