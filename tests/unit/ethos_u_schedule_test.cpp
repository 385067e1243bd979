// SPDX-License-Identifier: Apache-2.0
// Schedules: every memory budget gives the same bytes and is met, and more memory is never slower.
// A budget that is too small is refused with the size that would be sufficient.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>

#include "engines/ethos_u/text/payload.h"
#include "ethos_u_programs.h"

namespace thimble::test {
namespace {

using Make = NpuProgram (*)(const Config&);
constexpr const char* kNames[] = {"ethos-u55-32", "ethos-u55-128", "ethos-u65-512", "ethos-u85-256",
                                  "ethos-u85-1024"};

NpuProgram small_mobilenet(const Config& config) {
  return mobilenet(config, 32);
}

TEST(EthosUSchedule, EveryBudgetGivesSameOutputs) {
  int points_run = 0;
  for (const char* name : {"ethos-u55-128", "ethos-u65-512", "ethos-u85-256"}) {
    const Config& config = *thimble::ethos_u::find_config(name);
    for (const Make make : {chain, residual, branches, chain_with_skipped_rows}) {
      const NpuProgram program = make(config);
      const std::vector<Bytes> inputs = random_inputs(program, 7);
      const std::vector<Bytes> expected = interpret(program, inputs);
      for (const MemoryMode mode : {MemoryMode::kSharedSram, MemoryMode::kDedicatedSram}) {
        ScheduleOptions options;
        options.mode = mode;
        const auto points = pareto(program, options);
        ASSERT_TRUE(points.ok());
        int64_t cycles = int64_t{1} << 50;
        for (const ParetoPoint& point : *points) {
          EXPECT_LT(point.cycles, cycles) << name << " " << point.sram_bytes;
          cycles = point.cycles;
          options.sram_bytes = point.sram_bytes;
          const auto blob = compile(program, options);
          ASSERT_TRUE(blob.ok()) << name << ": " << blob.error().message;
          ++points_run;
          EXPECT_LE(blob->sram_bytes(mode), point.sram_bytes);
          const Simulated got = simulate(program, *blob, inputs);
          ASSERT_EQ(got.error, "") << name << " " << point.sram_bytes;
          ASSERT_EQ(got.outputs, expected) << name << " " << point.sram_bytes;
        }
      }
    }
  }
  EXPECT_GE(points_run, 100);
}

TEST(EthosUSchedule, RandomChainsWithRandomBudgetsGiveSameOutputs) {
  int cascades = 0, compiled = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    const char* name = kNames[random() % std::size(kNames)];
    const Config& config = *thimble::ethos_u::find_config(name);
    const NpuProgram program = random_chain(config, seed);
    const std::vector<Bytes> inputs = random_inputs(program, seed);
    ScheduleOptions options;
    const bool u55 = config.generation == thimble::ethos_u::Generation::kU55;
    if (!u55 && random() % 2 == 0) options.mode = MemoryMode::kDedicatedSram;
    if (random() % 2 == 0) options.optimise = Optimise::kSize;
    if (random() % 3 != 0) options.sram_bytes = 256 << random() % 9;
    const auto blob = compile(program, options);
    if (!blob.ok()) {
      EXPECT_NE(blob.error().message.find("the smallest needs"), std::string::npos)
          << "seed " << seed << ": " << blob.error().message;
      continue;
    }
    ++compiled;
    for (const OpReport& row : blob->report) cascades += row.cascade >= 0 ? 1 : 0;
    const Simulated got = simulate(program, *blob, inputs);
    EXPECT_EQ(got.error, "") << name << " seed " << seed;
    EXPECT_EQ(got.outputs, interpret(program, inputs)) << name << " seed " << seed;
  }
  EXPECT_GT(cascades, 25);
  EXPECT_GE(compiled, 120);
  EXPECT_LE(compiled, 180) << "some budgets must be too small";
}

TEST(EthosUSchedule, CascadesDoNotChangeOutputs) {
  for (const char* name : {"ethos-u55-128", "ethos-u85-256"}) {
    const NpuProgram program = small_mobilenet(*thimble::ethos_u::find_config(name));
    const std::vector<Bytes> inputs = random_inputs(program, 7);
    std::vector<Bytes> expected;
    for (const Optimise optimise : {Optimise::kPerformance, Optimise::kSize}) {
      ScheduleOptions options;
      options.optimise = optimise;
      const auto blob = compile(program, options);
      ASSERT_TRUE(blob.ok());
      const Simulated got = simulate(program, *blob, inputs);
      ASSERT_EQ(got.error, "") << name;
      if (expected.empty()) expected = interpret(program, inputs);
      EXPECT_EQ(got.outputs, expected) << name;
    }
  }
}

TEST(EthosUSchedule, ParetoPointsHaveFewerCyclesForMoreMemory) {
  const NpuProgram program = mobilenet(*thimble::ethos_u::find_config("ethos-u55-128"), 96);
  const auto points = pareto(program, {});
  ASSERT_TRUE(points.ok());
  ASSERT_GE(points->size(), 5U);
  for (size_t i = 1; i < points->size(); ++i) {
    EXPECT_LT((*points)[i - 1].sram_bytes, (*points)[i].sram_bytes);
    EXPECT_GT((*points)[i - 1].cycles, (*points)[i].cycles);
  }
}

struct BudgetCase {
  const char* config;
  MemoryMode mode;
  Make make;
};
constexpr BudgetCase kBudgetCases[] = {
    {"ethos-u55-128", MemoryMode::kSharedSram, chain},
    {"ethos-u55-256", MemoryMode::kSharedSram, residual},
    {"ethos-u85-256", MemoryMode::kSharedSram, chain_with_skipped_rows},
    {"ethos-u65-256", MemoryMode::kDedicatedSram, branches},
    {"ethos-u65-256", MemoryMode::kDedicatedSram, sequence_with_skips},
    {"ethos-u65-512", MemoryMode::kDedicatedSram, chain},
    {"ethos-u85-256", MemoryMode::kDedicatedSram, residual},
    {"ethos-u85-512", MemoryMode::kDedicatedSram, sequence_with_skips}};

// A sweep of budgets from the smallest schedule to more than the largest: the cycles of the stream
// never increase, and every budget is met. The budgets are the memory of every schedule that a
// budget selects, that minus 16, and others between. Most of them are near the smallest.
TEST(EthosUSchedule, MoreMemoryIsNeverSlower) {
  for (const BudgetCase& one : kBudgetCases) {
    const NpuProgram program = one.make(*thimble::ethos_u::find_config(one.config));
    ScheduleOptions options;
    options.mode = one.mode;
    const auto points = pareto(program, options);
    ASSERT_TRUE(points.ok());
    const int64_t least = points->front().sram_bytes, most = 2 * points->back().sram_bytes;
    std::set<int64_t> budgets = {least, least + 16, least + 32, least + 64, most};
    for (int64_t at = 128; at < most - least; at += at / 4) budgets.insert(least + at);
    for (const ParetoPoint& point : *points) {
      budgets.insert({std::max(least, point.sram_bytes - 16), point.sram_bytes});
    }
    double before = std::numeric_limits<double>::infinity(), first = 0;
    for (const int64_t budget : budgets) {
      options.sram_bytes = budget;
      const auto blob = compile(program, options);
      ASSERT_TRUE(blob.ok()) << one.config << ": " << blob.error().message;
      EXPECT_LE(blob->sram_bytes(one.mode), budget);
      const double cycles = timeline_cycles(program, *blob, one.mode);
      EXPECT_LE(cycles, before) << one.config << " with " << budget;
      before = cycles;
      if (first == 0) first = cycles;
    }
    EXPECT_GE(budgets.size(), 20U) << one.config;
    EXPECT_LT(before, first) << one.config << ": no budget saved cycles";
  }
}

// The default schedule has at most 1.02 times the cycles of every budget, if the part's memory is
// the limit of both; 1.05 times in Dedicated_Sram, if that saves traffic of the DRAM.
TEST(EthosUSchedule, DefaultIsCloseToEveryBudget) {
  bool saves = false;
  for (const BudgetCase& one : kBudgetCases) {
    const NpuProgram program = one.make(*thimble::ethos_u::find_config(one.config));
    ScheduleOptions options;
    options.mode = one.mode;
    options.in_feature_maps = false;
    const double slower = one.mode == MemoryMode::kDedicatedSram ? 1.05 : 1.02;
    for (const auto& memory : {std::optional<int64_t>(), std::optional<int64_t>(32 << 10)}) {
      options.memory_bytes = memory;
      options.sram_bytes = std::nullopt;
      const auto chosen = compile(program, options);
      ASSERT_TRUE(chosen.ok()) << one.config << ": " << chosen.error().message;
      const double cycles = timeline_cycles(program, *chosen, one.mode);
      EXPECT_EQ(chosen->timeline_cycles, std::llround(cycles));
      EXPECT_LE(cycles, slower * static_cast<double>(chosen->fastest.cycles)) << one.config;
      const auto points = pareto(program, options);
      ASSERT_TRUE(points.ok());
      EXPECT_EQ(chosen->smallest.sram_bytes, points->front().sram_bytes) << one.config;
      for (const ParetoPoint& point : *points) {
        options.sram_bytes = point.sram_bytes;
        const auto budgeted = compile(program, options);
        ASSERT_TRUE(budgeted.ok()) << budgeted.error().message;
        EXPECT_LE(cycles, slower * timeline_cycles(program, *budgeted, one.mode))
            << one.config << " with " << point.sram_bytes;
      }
      saves = saves || chosen->sram_bytes(one.mode) < points->back().sram_bytes * 9 / 10;
    }
  }
  EXPECT_TRUE(saves) << "every default used the most memory";
}

// The schedule that is reported as the smallest exists, and nothing smaller does.
TEST(EthosUSchedule, SmallestOfReportIsTheSmallestBudget) {
  for (const BudgetCase& one : kBudgetCases) {
    const NpuProgram program = one.make(*thimble::ethos_u::find_config(one.config));
    ScheduleOptions options;
    options.mode = one.mode;
    const auto chosen = compile(program, options);
    ASSERT_TRUE(chosen.ok());
    options.sram_bytes = chosen->smallest.sram_bytes;
    const auto smallest = compile(program, options);
    ASSERT_TRUE(smallest.ok()) << one.config << ": " << smallest.error().message;
    EXPECT_LE(timeline_cycles(program, *smallest, one.mode),
              static_cast<double>(chosen->smallest.cycles) + 1);
    options.sram_bytes = chosen->smallest.sram_bytes - 16;
    EXPECT_FALSE(compile(program, options).ok()) << one.config;
  }
}

TEST(EthosUSchedule, TooSmallBudgetErrorNamesMinimum) {
  const NpuProgram program = mobilenet(*thimble::ethos_u::find_config("ethos-u55-128"), 96);
  ScheduleOptions options;
  options.sram_bytes = 4096;
  const auto refused = compile(program, options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kUnsupported);
  const std::string& message = refused.error().message;
  std::string least = message.substr(message.rfind(' ') + 1);
  std::erase(least, ',');
  options.sram_bytes = std::stoll(least);
  EXPECT_GT(*options.sram_bytes, 4096);
  const auto blob = compile(program, options);
  ASSERT_TRUE(blob.ok()) << blob.error().message;
  EXPECT_LE(blob->scratch_bytes, *options.sram_bytes);
}

/// Returns the largest sum of operands of one operation: what a chain needs without cascades.
int64_t feature_map_bytes(const NpuProgram& program) {
  const auto bytes = [&](int tensor) {
    const NpuTensor& of = program.tensors[static_cast<size_t>(tensor)];
    return (of.shape.elements() * of.element.bits / 8 + 15) / 16 * 16;
  };
  int64_t most = 0;
  for (const NpuOp& op : program.ops) {
    most = std::max(most, bytes(op.ifm.tensor) + bytes(op.ofm.tensor));
  }
  return most;
}

TEST(EthosUSchedule, DefaultIsWithinTwoPercentOfFeatureMaps) {
  bool saves = false;
  for (const char* name : {"ethos-u55-128", "ethos-u55-256"}) {
    ProgramBuilder builder(*thimble::ethos_u::find_config(name), 9);
    int at = builder.conv(builder.input({64, 64, 3}), 16, 3, 2);
    for (const int64_t channels : {24, 32, 32, 48}) {
      at = builder.conv(builder.depthwise(at, 3, 1), channels, 1, 1);
    }
    builder.output(builder.conv(at, 32, 3, 2));
    const NpuProgram program = builder.take();
    ScheduleOptions options;
    const auto chosen = compile(program, options);
    const auto points = pareto(program, options);
    ASSERT_TRUE(chosen.ok() && points.ok());
    EXPECT_EQ(chosen->smallest.sram_bytes, points->front().sram_bytes);
    EXPECT_LE(chosen->fastest.cycles, chosen->timeline_cycles);
    options.sram_bytes = feature_map_bytes(program);
    const auto fastest = compile(program, options);
    ASSERT_TRUE(fastest.ok());
    EXPECT_LE(timeline_cycles(program, *chosen, options.mode),
              1.02 * timeline_cycles(program, *fastest, options.mode))
        << name;
    EXPECT_LE(chosen->scratch_bytes, *options.sram_bytes) << name;
    saves = saves || chosen->scratch_bytes < *options.sram_bytes * 9 / 10;
  }
  EXPECT_TRUE(saves) << "no network used less memory than its feature maps";
}

// The SRAM of a part is a limit, not a budget: it is not used if that saves few cycles.
TEST(EthosUSchedule, DefaultInMemoryOfPartIsWithinTwoPercentOfFastest) {
  bool saves = false;
  for (const int64_t memory : {int64_t{2} << 20, int64_t{96} << 10}) {
    const NpuProgram program = mobilenet(*thimble::ethos_u::find_config("ethos-u55-128"), 96);
    ScheduleOptions options;
    options.in_feature_maps = false;
    options.memory_bytes = memory;
    const auto chosen = compile(program, options);
    ASSERT_TRUE(chosen.ok()) << chosen.error().message;
    EXPECT_LE(chosen->scratch_bytes, memory);
    options.sram_bytes = memory;
    const auto fastest = compile(program, options);
    ASSERT_TRUE(fastest.ok()) << fastest.error().message;
    EXPECT_LE(timeline_cycles(program, *chosen, options.mode),
              1.02 * timeline_cycles(program, *fastest, options.mode));
    saves = saves || chosen->scratch_bytes < memory / 2;
  }
  EXPECT_TRUE(saves) << "the default used the whole memory";
}

TEST(EthosUSchedule, CompilationIsDeterministic) {
  const NpuProgram program = branches(*thimble::ethos_u::find_config("ethos-u65-512"));
  ScheduleOptions options;
  options.mode = MemoryMode::kDedicatedSram;
  const auto first = compile(program, options), second = compile(program, options);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->commands, second->commands);
  EXPECT_EQ(first->weights, second->weights);
}

TEST(EthosUSchedule, EstimateIsCloseToTimeline) {
  struct Case {
    const char* name;
    MemoryMode mode;
  };
  for (const Case& c : {Case{"ethos-u55-128", MemoryMode::kSharedSram},
                        Case{"ethos-u55-32", MemoryMode::kSharedSram},
                        Case{"ethos-u65-512", MemoryMode::kDedicatedSram},
                        Case{"ethos-u85-256", MemoryMode::kDedicatedSram}}) {
    const NpuProgram program = mobilenet(*thimble::ethos_u::find_config(c.name), 224);
    ScheduleOptions options;
    options.mode = c.mode;
    options.in_feature_maps = false;
    options.memory_bytes = 2 << 20;
    if (c.mode == MemoryMode::kDedicatedSram) options.memory_bytes = 384 << 10;
    const auto blob = compile(program, options);
    ASSERT_TRUE(blob.ok());
    const double cycles = timeline_cycles(program, *blob, c.mode);
    EXPECT_NEAR(static_cast<double>(blob->cycles), cycles, cycles * 0.05) << c.name;
  }
}

std::string text_of(const NpuBlob& blob) {
  const auto payload = thimble::ethos_u::text::read_payload(blob.commands, "stream");
  return payload.ok() ? thimble::ethos_u::text::print(*payload) : "";
}
bool text_contains(const NpuBlob& blob, const char* what) {
  return text_of(blob).find(what) != std::string::npos;
}

TEST(EthosUSchedule, U85WeightsUseFastestFormat) {
  for (const char* name : {"ethos-u85-128", "ethos-u85-256", "ethos-u85-2048"}) {
    const Config& config = *thimble::ethos_u::find_config(name);
    // One input channel: three of every four weights along the depth are padding.
    ProgramBuilder narrow(config, 3);
    narrow.output(narrow.conv(narrow.input({20, 20, 1}), 32, 7, 1));
    // Many weights for a single position, in a memory of sufficient bandwidth.
    ProgramBuilder dense(config, 4);
    dense.output(dense.conv(dense.input({1, 1, 512}), 256, 1, 1));
    const NpuProgram programs[] = {narrow.take(), dense.take()};
    for (const NpuProgram& program : programs) {
      const bool one = program.tensors[0].shape.c == 1;
      ScheduleOptions options;
      options.mode = MemoryMode::kSramOnly;
      const auto blob = compile(program, options);
      ASSERT_TRUE(blob.ok());
      EXPECT_EQ(text_contains(*blob, "sparse=1"), one) << name;
      // Four standard decoders are as fast as the fast one, which only helps smaller NPUs here.
      EXPECT_EQ(text_contains(*blob, "fast=1"), !one && config.cores < 4) << name;
      const std::vector<Bytes> inputs = random_inputs(program, 7);
      const Simulated got = simulate(program, *blob, inputs);
      ASSERT_EQ(got.error, "") << name;
      EXPECT_EQ(got.outputs, interpret(program, inputs)) << name;
    }
  }
}

TEST(EthosUSchedule, OverlappingInputIsCopiedIfItFits) {
  for (const char* name : {"ethos-u65-256", "ethos-u85-256"}) {
    ProgramBuilder builder(*thimble::ethos_u::find_config(name), 5);
    // The copy takes less than 5 % of the network's cycles.
    int at = builder.conv(builder.input({96, 96, 3}), 16, 3, 2);
    for (int i = 0; i < 10; ++i) at = builder.conv(at, 16, 3, 1);
    builder.output(at);
    const NpuProgram program = builder.take();
    const std::vector<Bytes> inputs = random_inputs(program, 7);
    const std::vector<Bytes> expected = interpret(program, inputs);
    std::vector<std::string> streams;
    for (const int64_t bytes : {int64_t{128} << 10, int64_t{24} << 10}) {
      ScheduleOptions options;
      options.mode = MemoryMode::kDedicatedSram;
      options.in_feature_maps = false;
      options.memory_bytes = bytes;
      const auto blob = compile(program, options);
      ASSERT_TRUE(blob.ok());
      EXPECT_EQ(blob->report.size(), program.ops.size());
      const Simulated got = simulate(program, *blob, inputs);
      ASSERT_EQ(got.error, "") << name << " " << bytes;
      ASSERT_EQ(got.outputs, expected) << name << " " << bytes;
      streams.push_back(text_of(*blob));
    }
    // The first kernel reads the fast scratch, or the arena if the copy does not fit.
    EXPECT_NE(streams[0].find("IFM_REGION 2"), std::string::npos) << name;
    EXPECT_NE(streams[0].find("DMA0_LEN 0x6c00"), std::string::npos) << name;
    EXPECT_EQ(streams[1].find("DMA0_LEN 0x6c00"), std::string::npos) << name;
  }
}

TEST(EthosUSchedule, MobileNetFitsIntoSramThatVelaNeeds) {
  const NpuProgram program = mobilenet(*thimble::ethos_u::find_config("ethos-u55-128"), 224);
  ScheduleOptions options;
  options.sram_bytes = 361984;  // Vela's SRAM use with its Size strategy
  const auto tight = compile(program, options);
  ASSERT_TRUE(tight.ok()) << tight.error().message;
  options.sram_bytes = 384 << 10;
  const auto blob = compile(program, options);
  ASSERT_TRUE(blob.ok()) << blob.error().message;
  EXPECT_LE(blob->cycles, tight->cycles);
}

}  // namespace
}  // namespace thimble::test
