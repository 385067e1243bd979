// SPDX-License-Identifier: Apache-2.0
// An SRAM budget: if a budget is met, every larger one is met. Sweeps budgets of two networks, from
// what the untiled graph needs down to a fraction of it.

#include "memory/budget.h"

#include <gtest/gtest.h>

#include "driver/recipe.h"
#include "driver/stages.h"
#include "ir/print.h"
#include "tests/folders.h"

namespace thimble::driver {
namespace {

struct Network {
  const char* name;
  const char* core;
};

/// Returns the integer graph of a network of models/, quantized with random data.
Result<ir::Graph> integer_graph(const Network& network, const engine::Part& part) {
  const auto folder = test::source_folder() / "models" / network.name;
  CompileOptions options;
  options.calibration = kRandomCalibration;
  options.measure_quality = false;
  options = with_recipe(options, part.recipe);
  StageFiles none({});
  THIMBLE_TRY(const FloatModel model,
              import_model(folder / (std::string(network.name) + ".pt2"), options, &none));
  THIMBLE_TRY(const Calibration data, read_calibration(model, options));
  THIMBLE_TRY(quant::QuantizedModel quantized,
              quantize_model(model, data, options, arithmetic_of(options, part)));
  return std::move(quantized.graph);
}

class Budget : public testing::TestWithParam<Network> {};

TEST_P(Budget, no_larger_budget_is_refused) {
  const auto part = engine::find_part(GetParam().core);
  ASSERT_TRUE(part.ok());
  const auto graph = integer_graph(GetParam(), *part);
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  const auto whole = memory::lower_within_budget(*graph, *part->cpu, {}, {});
  ASSERT_TRUE(whole.ok());
  // Steps that are not multiples of an alignment.
  const int64_t step = whole->bytes / 31;
  int64_t smallest_met = INT64_MAX, tiled = 0, refused = 0;
  for (int64_t bytes = whole->bytes / 5; bytes <= whole->bytes + step; bytes += step) {
    const auto lowered = memory::lower_within_budget(*graph, *part->cpu, {}, bytes);
    ASSERT_TRUE(lowered.ok());
    const bool met = lowered->bytes <= bytes;
    EXPECT_TRUE(met || bytes < smallest_met)
        << bytes << " B are refused (" << lowered->bytes << " B), " << smallest_met << " B are met";
    if (met) smallest_met = std::min(smallest_met, bytes);
    tiled += met && bytes < whole->bytes ? 1 : 0;
    refused += met ? 0 : 1;
  }
  // The sweep has both cases.
  EXPECT_GT(tiled, 3);
  EXPECT_GT(refused, 0);
}

TEST(BudgetOfGroups, GeneralKernelsNeedLessMemory) {
  const auto graph = ir::parse(
      "graph @forward {\n"
      "  input %x: i8[1,16,24,24]\n"
      "  const %w: i8[32,8,3,3] = 0x05...\n"
      "  const %m: i32[1] = 0x00000040\n"
      "  const %s: i32[1] = 0xf8ffffff\n"
      "  %y = qconv2d(%x, %w, _, %m, %s) {stride=[1,1], padding=[1,1,1,1], dilation=[1,1], "
      "groups=2, x_zp=3, y_zp=-3, min=-128, max=127}\n"
      "  output %y\n"
      "}\n",
      "test.ir");
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  const auto part = engine::find_part("cortex-m55");
  ASSERT_TRUE(part.ok());
  const auto lowered = [&](std::optional<int64_t> sram_bytes) {
    auto result = memory::lower_within_budget(*graph, *part->cpu, {}, sram_bytes);
    EXPECT_TRUE(result.ok());
    return std::move(*result);
  };
  const memory::BudgetedLowering fastest = lowered({});
  const int64_t budget = fastest.bytes - 1;
  const memory::BudgetedLowering small = lowered(budget);
  EXPECT_LT(small.lowered.calls.size(), fastest.lowered.calls.size());
  EXPECT_LE(small.bytes, budget);
  ASSERT_EQ(small.notes.size(), 1U);
  EXPECT_NE(small.notes[0].find("groups"), std::string::npos);
  // Too small for both: the smaller one is reported.
  EXPECT_LE(lowered(1).bytes, small.bytes);
}

INSTANTIATE_TEST_SUITE_P(, Budget,
                         testing::Values(Network{"resnet8", "cortex-m4"},
                                         Network{"mobilenet_v1_vww", "cortex-m0plus"}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace thimble::driver
