// SPDX-License-Identifier: Apache-2.0
// Partitioning into subgraphs by levels: joining the subgraphs gives the input graph, no subgraph
// depends on itself, and every operator that stays on the CPU has a reason.

#include "partition/partition.h"

#include <gtest/gtest.h>

#include "../conformance/random_integer_graph.h"
#include "eval/evaluate.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "ir_random_graph.h"

namespace thimble::partition {
namespace {

using ir::OpKind;

/// An engine that takes operators by the hash of their result's name and the setting "seed".
engine::Legality by_hash(const ir::Graph& graph, const ir::Op& op, const engine::PartNpu& use) {
  uint64_t hash = static_cast<uint64_t>(use.settings.at("seed")) * 0x9E3779B97F4A7C15U + 1;
  for (const char letter : graph.value(op.output).name) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001B3U;
  }
  if (hash % 10 < static_cast<uint64_t>(use.settings.at("tenths"))) return {true, ""};
  return {false, "the dice say no"};
}
/// One that takes every operator but tables.
engine::Legality no_tables(const ir::Graph&, const ir::Op& op, const engine::PartNpu&) {
  if (op.kind == OpKind::lut) return {false, "has no tables"};
  return {true, ""};
}

const engine::Npu kHashEngine = {"hash", nullptr, by_hash, true, nullptr};
const engine::Npu kTableless = {"tableless", nullptr, no_tables, true, nullptr};

engine::PartNpu hash_engine(std::string name, double seed, double tenths) {
  return {&kHashEngine, std::move(name), "", "", {{"seed", seed}, {"tenths", tenths}}};
}

ir::Graph parsed(std::string_view text) {
  auto graph = ir::parse(text, "test");
  EXPECT_TRUE(graph.ok()) << graph.error().message;
  return *graph;
}

void expect_same(const ir::Graph& a, const ir::Graph& b, uint64_t seed) {
  const auto inputs = test::random_inputs(a, seed);
  const auto want = eval::evaluate(a, inputs);
  const auto got = eval::evaluate(b, inputs);
  ASSERT_TRUE(want.ok() && got.ok());
  ASSERT_EQ(want->size(), got->size());
  for (size_t i = 0; i < want->size(); ++i) EXPECT_EQ((*want)[i].bytes, (*got)[i].bytes) << i;
}

TEST(Partition, JoinedSubgraphsEqualRandomGraph) {
  int subgraphs = 0, second = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    const ir::Graph graph = test::random_integer_graph(seed, {10, false});
    const std::vector<engine::PartNpu> engines = {
        hash_engine("one", static_cast<double>(seed), static_cast<double>(2 + seed % 8)),
        hash_engine("two", static_cast<double>(seed + 1000), 5)};
    const auto split = partition(graph, engines);
    ASSERT_TRUE(split.ok()) << split.error().message;
    ASSERT_TRUE(ir::verify(split->graph).ok());
    const std::string text = ir::print(split->graph);
    const auto read = ir::parse(text, "text");
    ASSERT_TRUE(read.ok()) << read.error().message;
    ASSERT_EQ(ir::print(*read), text);
    for (size_t i = 0; i < graph.ops().size(); ++i) {
      const int subgraph = split->subgraph_of[i];
      const bool first =
          subgraph >= 0 &&
          split->subgraphs[static_cast<size_t>(subgraph)].engine->name == engines[0].name;
      EXPECT_EQ(split->reasons[i].empty(), first) << split->reasons[i];
    }
    for (const Subgraph& subgraph : split->subgraphs) {
      ASSERT_TRUE(ir::verify(subgraph.graph).ok());
      EXPECT_FALSE(subgraph.graph.outputs().empty());
      second += subgraph.engine->name == "two";
      ++subgraphs;
    }
    const auto again = inline_subgraphs(split->graph, split->subgraphs);
    ASSERT_TRUE(again.ok()) << again.error().message;
    expect_same(graph, *again, seed);
  }
  EXPECT_GT(subgraphs, 100);
  EXPECT_GT(second, 20);
}

constexpr std::string_view kDiamond = R"(graph @g {
  input %x: i8[1,8,32,32] quant(0.1, 0)
  const %t: i8[256] = 0x00...
  %a: i8[1,8,32,32] quant(0.1, 0) = qmul(%x, %x) {x0}
  %b: i8[1,8,32,32] quant(0.1, 0) = lut(%a, %t)
  %c: i8[1,8,32,32] quant(0.1, 0) = qmul(%a, %a) {x0}
  %d: i8[1,8,32,32] quant(0.1, 0) = qmul(%c, %b) {x0}
  output %d
})";

ir::Graph diamond() {
  std::string text(kDiamond);
  for (size_t at; (at = text.find("{x0}")) != std::string::npos;) {
    text.replace(at, 4, "{a_zp=0, b_zp=0, y_zp=0, mult=1073741824, shift=-4, min=-128, max=127}");
  }
  return parsed(text);
}

TEST(Partition, SubgraphNeverDependsOnItself) {
  const std::vector<engine::PartNpu> engines = {{&kTableless, "npu", "", "", {}}};
  const auto split = partition(diamond(), engines);
  ASSERT_TRUE(split.ok());
  // a and c run before the table, d after it. One subgraph of all three would depend on itself.
  ASSERT_EQ(split->subgraphs.size(), 2U);
  EXPECT_EQ(split->subgraph_of, (std::vector<int>{0, -1, 0, 1}));
  EXPECT_EQ(split->reasons[1], "npu: has no tables");
  EXPECT_EQ(split->subgraphs[0].graph.outputs().size(), 2U);
}

TEST(Partition, ExcludedOperatorsRunOnCpu) {
  const std::vector<engine::PartNpu> engines = {{&kTableless, "npu", "", "", {}}};
  const std::vector<std::string> keep_off = {"", "", "", "--engine-off qmul"};
  const auto split = partition(diamond(), engines, {keep_off, false});
  ASSERT_TRUE(split.ok());
  EXPECT_EQ(split->subgraph_of, (std::vector<int>{0, -1, 0, -1}));
  EXPECT_EQ(split->reasons[3], "--engine-off qmul");
}

TEST(Partition, UnprofitableSubgraphsRunOnCpu) {
  const std::vector<engine::PartNpu> engines = {{&kTableless, "npu", "", "", {}}};
  const auto small = partition(parsed(R"(graph @g {
  input %x: i8[1,16] quant(0.1, 0)
  const %t: i8[256] = 0x00...
  %a: i8[1,16] quant(0.1, 0) = maximum(%x, %x)
  %b: i8[1,16] quant(0.1, 0) = lut(%a, %t)
  output %b
})"),
                               engines);
  ASSERT_TRUE(small.ok());
  EXPECT_TRUE(small->subgraphs.empty());
  EXPECT_EQ(small->reasons[0],
            "the subgraph has 16 steps, a dispatch costs 2000: cheaper on the CPU");
  const auto moves = partition(parsed(R"(graph @g {
  input %x: i8[1,64,64] quant(0.1, 0)
  const %t: i8[256] = 0x00...
  %a: i8[1,64,64] quant(0.1, 0) = permute(%x) {dims=[0,2,1]}
  %b: i8[1,64,64] quant(0.1, 0) = lut(%a, %t)
  output %b
})"),
                               engines);
  ASSERT_TRUE(moves.ok());
  EXPECT_EQ(moves->reasons[0], "the subgraph would only move data: cheaper on the CPU");
}

TEST(Partition, RecipeSetsMinimumSubgraphSize) {
  const std::vector<engine::PartNpu> engines = {{&kTableless, "npu", "", "", {}}};
  const ir::Graph graph = parsed(R"(graph @g {
  input %x: i8[1,16] quant(0.1, 0)
  const %t: i8[256] = 0x00...
  %a: i8[1,16] quant(0.1, 0) = maximum(%x, %x)
  %b: i8[1,16] quant(0.1, 0) = lut(%a, %t)
  output %b
})");
  EXPECT_EQ(partition(graph, engines, {{}, false, 16})->subgraphs.size(), 1U);
  const auto less = partition(graph, engines, {{}, false, 17});
  EXPECT_TRUE(less->subgraphs.empty());
  EXPECT_EQ(less->reasons[0], "the subgraph has 16 steps, the part's recipe requires 17");
  EXPECT_EQ(partition(graph, engines, {{}, true, 17})->subgraphs.size(), 1U);
}

TEST(Partition, SmallFullySupportedNetworkRunsOnEngine) {
  const std::vector<engine::PartNpu> engines = {{&kTableless, "npu", "", "", {}}};
  const auto split = partition(parsed(R"(graph @g {
  input %x: i8[1,16] quant(0.1, 0)
  %a: i8[1,16] quant(0.1, 0) = maximum(%x, %x)
  output %a
})"),
                               engines);
  ASSERT_TRUE(split.ok());
  EXPECT_EQ(split->subgraphs.size(), 1U);
}

}  // namespace
}  // namespace thimble::partition
