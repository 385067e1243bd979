// SPDX-License-Identifier: Apache-2.0
// Every operator that the Ethos-U runs, on every configuration. Random subgraphs are lowered,
// scheduled, emitted and simulated. All bytes must equal the reference evaluator's, and the
// simulator must report no hazard.
//
//   THIMBLE_ETHOS_U_CASE="qconv2d int8 17" ethos_u_ops_test --gtest_filter='*u55_128'
//
// repeats one case. THIMBLE_ETHOS_U_EACH is the maximum number of cases per operator (and of whole
// subgraphs, "region") and configuration. THIMBLE_ETHOS_U_SEEDS is the number of seeds tried.

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "engines/ethos_u/compiler/compile.h"
#include "engines/ethos_u/compiler/legal.h"
#include "engines/ethos_u/compiler/lower.h"
#include "ethos_u_cases.h"
#include "ir/print.h"
#include "random_integer_graph.h"
#include "random_move_graph.h"
#include "random_wide_graph.h"

namespace thimble {
namespace {

using thimble::ethos_u::Config;
using thimble::ethos_u::kConfigs;

std::vector<ir::OpKind> table_operators() {
  return {
#define ETHOS_U_LOWER(op, generations, function) ir::OpKind::op,
#include "engines/ethos_u/compiler/ops.def"
  };
}

/// Maximum number of default cases that a configuration may refuse; 0 for operators not listed.
/// These cases are outside the hardware's arithmetic (test RefusalsSayWhy).
int max_refused(const std::string& name) {
  static const std::map<std::string, int> kMost = {{"amax", 3},
                                                   {"amin", 7},
                                                   {"compare", 2},
                                                   {"lut16", 63},
                                                   {"maximum", 2},
                                                   {"minimum", 5},
                                                   {"qadd16", 30},
                                                   {"qconv2d16", 29},
                                                   {"qdiv", 10},
                                                   {"qconv_transpose2d16", 36},
                                                   {"qlayer_norm", 4},
                                                   {"qlinear16", 21},
                                                   {"qprelu16", 13},
                                                   {"qsoftmax16", 49},
                                                   {"qresize_bilinear", 87},
                                                   {"qsub16", 48},
                                                   {"where", 7}};
  const auto row = kMost.find(name);
  return row == kMost.end() ? 0 : row->second;
}

ir::Graph random_source(const std::string& source, uint64_t seed) {
  if (source == "int8") return test::random_integer_graph(seed, {4, false});
  if (source == "shaped") return test::operator_near_limits(seed);
  if (source == "int16") return test::random_wide_graph(seed, 4);
  constexpr ir::DType kTypes[] = {ir::DType::kBool, ir::DType::kU8, ir::DType::kI8, ir::DType::kI16,
                                  ir::DType::kI32};
  auto moved = test::random_move_graph(seed, kTypes[seed % std::size(kTypes)]);
  return moved.ok() ? std::move(*moved) : ir::Graph();
}

class EthosUOps : public testing::TestWithParam<Config> {
 protected:
  void SetUp() override {
    if (const char* text = std::getenv("THIMBLE_ETHOS_U_CASE")) {
      std::istringstream(text) >> wanted_op_ >> wanted_source_ >> wanted_seed_;
    }
    if (const char* text = std::getenv("THIMBLE_ETHOS_U_EACH")) {
      each_ = std::atoi(text);
      custom_counts_ = true;
    }
    if (const char* text = std::getenv("THIMBLE_ETHOS_U_SEEDS")) {
      seeds_ = std::stoul(text);
      custom_counts_ = true;
    }
  }

  void run_case(const std::string& name, const std::string& source, uint64_t seed,
                const ir::Graph& region) {
    if (region.outputs().empty()) return;
    if (!wanted_op_.empty() &&
        (name != wanted_op_ || source != wanted_source_ || seed != wanted_seed_)) {
      return;
    }
    if (wanted_op_.empty() && ran_[name] >= each_) return;
    const test::Outcome outcome = test::run_subgraph(region, GetParam(), seed);
    if (outcome.refused) {
      ++refused_[name];
      reasons_[name] = outcome.message;
      return;
    }
    ++ran_[name];
    if (outcome.message.empty()) return;
    ++failed_[name];
    constexpr int kShown = 2;
    if (failed_[name] > kShown && wanted_op_.empty()) return;
    ADD_FAILURE() << "THIMBLE_ETHOS_U_CASE=\"" << name << " " << source << " " << seed
                  << "\" ethos_u_ops_test --gtest_filter='*"
                  << testing::UnitTest::GetInstance()->current_test_info()->name() << "'\n"
                  << outcome.message << "\n"
                  << ir::print(region);
  }

  void all(const std::string& source, uint64_t seed) {
    const ir::Graph graph = random_source(source, seed);
    for (const ir::Graph& one : test::single_operators(graph, seed)) {
      if (one.ops().size() != 1) continue;
      const ir::Op& op = one.ops()[0];
      const auto known = table_operators();
      if (std::find(known.begin(), known.end(), op.kind) == known.end()) continue;
      run_case(std::string(ir::op_name(op.kind)), source, seed, one);
    }
    if (graph.ops().size() < 2) return;
    std::vector<bool> inside;
    for (const ir::Op& op : graph.ops()) {
      inside.push_back(engine::ethos_u::legal(graph, op, GetParam()).legal);
    }
    run_case("region", source, seed, test::subgraph_of(graph, inside, seed));
  }

  std::string wanted_op_, wanted_source_;
  uint64_t wanted_seed_ = 0;
  int each_ = 20;
  uint64_t seeds_ = 400;
  bool custom_counts_ = false;  // the number of cases differs from the default
  std::map<std::string, int> ran_, refused_, failed_;
  std::map<std::string, std::string> reasons_;
};

TEST_P(EthosUOps, SimulatorEqualsEvaluator) {
  if (!wanted_op_.empty()) return all(wanted_source_, wanted_seed_);
  for (uint64_t seed = 0; seed < seeds_; ++seed) {
    for (const char* source : {"shaped", "int8", "int16", "moved"}) all(source, seed);
  }
  for (const ir::OpKind kind : table_operators()) {
    const std::string name(ir::op_name(kind));
    std::cout << name << ": " << ran_[name] << " ran, " << failed_[name] << " failed, "
              << refused_[name] << " refused " << reasons_[name] << "\n";
    EXPECT_GT(ran_[name], 0) << name << ": " << reasons_[name];
    EXPECT_TRUE(custom_counts_ || refused_[name] <= max_refused(name))
        << name << ": " << reasons_[name];
  }
  std::cout << "region: " << ran_["region"] << " ran, " << failed_["region"] << " failed, "
            << refused_["region"] << " refused " << reasons_["region"] << "\n";
}

/// A table after a concat or pad applies to all elements: to copied and filled ones, and to those
/// that another operator wrote in their place.
TEST_P(EthosUOps, TableAfterConcatOrPadAppliesToAllElements) {
  constexpr const char* kStart = R"(graph @forward {
    input %x: i8[1,16,4,4]
    input %z: i8[1,16,4,4]
    const %t: i8[256] = 0x0517c3e08081f37f...
    %a: i8[1,16,4,4] = max_pool2d(%x)
      {kernel=[1,1], stride=[1,1], padding=[0,0,0,0], dilation=[1,1]}
    )";
  for (const char* const body : {
           "%c: i8[1,32,4,4] = concat(%a, %z) {dim=1}",
           "%c: i8[1,32,4,4] = concat(%z, %a) {dim=1}",
           "%c: i8[1,32,4,4] = concat(%a, %a) {dim=1}",
           "%c: i8[1,16,8,4] = concat(%a, %z) {dim=2}",
           "%c: i8[1,32,4,4] = concat(%x, %z) {dim=1}",
           "%c: i8[1,16,6,5] = pad(%a) {before=[0,0,1,0], after=[0,0,1,1], value=5}",
           "%c: i8[1,16,6,5] = pad(%x) {before=[0,0,1,0], after=[0,0,1,1], value=5}",
       }) {
    // The table's result is not an output, so that the table may become part of other operations.
    const auto graph = ir::parse(std::string(kStart) + body +
                                     "\n%y = lut(%c, %t)\n"
                                     "%s = slice(%y) {dim=2, start=1, end=4}\noutput %s }",
                                 "case");
    ASSERT_TRUE(graph.ok()) << graph.error().message;
    const test::Outcome outcome = test::run_subgraph(*graph, GetParam(), 1);
    EXPECT_FALSE(outcome.refused) << body << ": " << outcome.message;
    EXPECT_EQ(outcome.message, "") << body;
  }
}

/// In a cascade, kernels of the inner rows have no padding if the average is padded only at the top
/// and the bottom. U55 and U65 divide by the number of positions only in kernels with padding.
TEST_P(EthosUOps, AverageWithPaddedRowsInCascade) {
  for (const char* const text : {
           R"(graph @forward {
             input %x: i8[1,16,40,12] order(0,2,3,1)
             %m: i8[1,16,40,12] order(0,2,3,1) = max_pool2d(%x)
               {kernel=[3,3], stride=[1,1], padding=[1,1,1,1], dilation=[1,1]}
             %y: i8[1,16,40,6] order(0,2,3,1) = qavg_pool2d(%m)
               {kernel=[3,2], stride=[1,2], padding=[1,0,1,0]}
             output %y })",
           R"(graph @forward {
             input %x: i16[1,16,40,12] order(0,2,3,1)
             %m: i16[1,16,40,12] order(0,2,3,1) = max_pool2d16(%x)
               {kernel=[3,3], stride=[1,1], padding=[1,1,1,1], dilation=[1,1]}
             %y: i16[1,16,40,6] order(0,2,3,1) = qavg_pool2d16(%m)
               {kernel=[3,2], stride=[1,2], padding=[1,0,1,0]}
             output %y })",
       }) {
    const auto graph = ir::parse(text, "case");
    ASSERT_TRUE(graph.ok()) << graph.error().message;
    const auto program = engine::ethos_u::lower(*graph, GetParam());
    ASSERT_TRUE(program.ok()) << program.error().message;
    engine::ethos_u::ScheduleOptions options;
    const auto points = engine::ethos_u::pareto(*program, options);
    ASSERT_TRUE(points.ok()) << points.error().message;
    options.sram_bytes = points->front().sram_bytes;
    const auto blob = engine::ethos_u::compile(*program, options);
    ASSERT_TRUE(blob.ok()) << blob.error().message;
    ASSERT_GE(blob->report.back().cascade, 0) << "the average is not in a cascade";
    for (uint64_t seed = 2; seed < 5; ++seed) {
      const test::Outcome outcome = test::run_subgraph(*graph, GetParam(), seed, options);
      EXPECT_FALSE(outcome.refused) << outcome.message;
      EXPECT_EQ(outcome.message, "") << text;
    }
  }
}

/// The U85 writes a permuted result with a transposed OFM, without a copy. The others copy it.
TEST_P(EthosUOps, PermutedResultsAreWrittenTransposed) {
  using thimble::ethos_u::Transpose;
  const bool u85 = GetParam().generation == thimble::ethos_u::Generation::kU85;
  std::set<Transpose> used;
  for (const char* const output : {
           "%y: i8[1,24,10,18] order(0,1,2,3) = permute(%b) {dims=[0,1,2,3]}",
           "%y: i8[1,10,24,18] = permute(%b) {dims=[0,2,1,3]}",
           "%y: i8[1,18,24,10] = permute(%b) {dims=[0,3,1,2]}",
           "%y: i8[1,24,18,10] order(0,1,2,3) = permute(%b) {dims=[0,1,3,2]}",
           "%y: i8[1,18,10,24] = permute(%b) {dims=[0,3,2,1]}",
       }) {
    const std::string text = std::string(R"(graph @forward {
      input %x: i8[1,24,10,18] order(0,2,3,1)
      %a: i8[1,24,10,18] order(0,2,3,1) = max_pool2d(%x)
        {kernel=[3,3], stride=[1,1], padding=[1,1,1,1], dilation=[1,1]}
      %b: i8[1,24,10,18] order(0,2,3,1) = max_pool2d(%a)
        {kernel=[1,3], stride=[1,1], padding=[0,1,0,1], dilation=[1,1]}
      )") + output + "\noutput %y }";
    const auto graph = ir::parse(text, "case");
    ASSERT_TRUE(graph.ok()) << graph.error().message;
    const auto program = engine::ethos_u::lower(*graph, GetParam());
    ASSERT_TRUE(program.ok()) << program.error().message;
    EXPECT_TRUE(!u85 || program->ops.size() == 2U) << output;
    used.insert(program->ops.back().transpose);
    for (const auto mode :
         {engine::ethos_u::MemoryMode::kSharedSram, engine::ethos_u::MemoryMode::kDedicatedSram}) {
      engine::ethos_u::ScheduleOptions options;
      options.mode = mode;
      const test::Outcome outcome = test::run_subgraph(*graph, GetParam(), 3, options);
      EXPECT_FALSE(outcome.refused) << output << ": " << outcome.message;
      EXPECT_EQ(outcome.message, "") << output;
    }
  }
  EXPECT_EQ(used.size(), u85 ? 5U : 1U);
}

/// An expand repeats rows without a copy; a norm reads each row several times.
TEST_P(EthosUOps, NormsOfExpandedRows) {
  for (const char* const body : {
           "%e: i8[4,3,4,8] = expand(%x) {shape=[4,3,4,8]}\n%y = qrms_norm(%e, _) {dims=1, "
           "eps=992, "
           "x_zp=55, y_zp=73, mult=1433737897, shift=-9}",
           "%e: i8[4,3,4,8] = expand(%x) {shape=[4,3,4,8]}\n%y = qlayer_norm(%e, _, _) {dims=1, "
           "eps=992, y_zp=73, mult=1433737897, shift=-9}",
       }) {
    const auto graph = ir::parse(
        std::string("graph @forward { input %x: i8[1,3,4,8]\n") + body + "\noutput %y }", "case");
    ASSERT_TRUE(graph.ok()) << graph.error().message;
    for (uint64_t seed = 0; seed < 4; ++seed) {
      const test::Outcome outcome = test::run_subgraph(*graph, GetParam(), seed);
      EXPECT_FALSE(outcome.refused) << body << ": " << outcome.message;
      EXPECT_EQ(outcome.message, "") << body;
    }
  }
}

/// A refusal names the operator, the NPU, the value and the limit.
TEST_P(EthosUOps, RefusalsNameOperatorValueAndLimit) {
  struct Refused {
    const char* graph;
    std::vector<const char*> words;
    bool on_u85 = true;
  };
  const Refused kCases[] = {
      {"graph @forward { input %x: i8[1,5000] %y = qsoftmax(%x) {dim=1, mult=1073741824, shift=20, "
       "diff_min=-1984} output %y }",
       {"qsoftmax", "row_elements", "5000", "4095"}},
      {"graph @forward { input %x: i8[4,4] %y = argmax(%x) {dim=1} output %y }", {"argmax", "i64"}},
      {"graph @forward { input %a: i8[300,200] input %b: i8[200,300] %y = qmatmul(%a, %b) {a_zp=0, "
       "b_zp=0, y_zp=0, mult=1073741824, shift=-8} output %y }",
       {"qmatmul", "products", "18000000", "1048576"},
       false},
      {"graph @forward { input %a: i16[1,8] input %b: i16[1,8] %y = qadd16(%a, %b) "
       "{a_mult=1610612737, "
       "a_shift=0, b_mult=1610612739, b_shift=0, y_mult=1073741824, y_shift=-14} output %y }",
       {"qadd16", "1610612737", "1610612739", "the other must be 1/2"},
       false},
      {"graph @forward { input %x: i8[2,363] %y = qlayer_norm(%x, _, _) {dims=1, eps=1, y_zp=0, "
       "mult=1073741824, shift=-8} output %y }",
       {"qlayer_norm", "363", "362"}},
      {"graph @forward { input %x: i8[2,182] %y = qrms_norm(%x, _) {dims=1, eps=1, x_zp=-128, "
       "y_zp=0, mult=1073741824, shift=-8} output %y }",
       {"qrms_norm", "182", "181"}},
  };
  const bool u85 = GetParam().generation == thimble::ethos_u::Generation::kU85;
  for (const Refused& one : kCases) {
    const auto graph = ir::parse(one.graph, "case");
    ASSERT_TRUE(graph.ok()) << graph.error().message;
    const auto verdict = engine::ethos_u::legal(*graph, graph->ops()[0], GetParam());
    EXPECT_EQ(verdict.legal, u85 && !one.on_u85) << one.graph << verdict.reason;
    if (verdict.legal) continue;
    EXPECT_NE(verdict.reason.find(GetParam().name), std::string::npos) << verdict.reason;
    for (const char* word : one.words) {
      EXPECT_NE(verdict.reason.find(word), std::string::npos) << word << " in " << verdict.reason;
    }
  }
}

std::string test_name(const testing::TestParamInfo<Config>& info) {
  std::string name = std::string(info.param.name).substr(6);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Each, EthosUOps, testing::ValuesIn(kConfigs), test_name);

}  // namespace
}  // namespace thimble
