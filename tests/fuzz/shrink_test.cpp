// SPDX-License-Identifier: Apache-2.0
// shrink() on random graphs, with conditions whose smallest graphs are known: one operator of a
// kind, or an operator whose operand is the result of another one.

#include <gtest/gtest.h>

#include <algorithm>

#include "ir/print.h"
#include "ir/verify.h"
#include "tests/conformance/random_integer_graph.h"
#include "tests/fuzz/differential.h"

namespace thimble::fuzz {
namespace {

constexpr int kCallsMax = 300;

struct ShrinkResult {
  ir::Graph graph;
  int calls = 0;
};

/// Calls shrink(). Expects that all graphs that `fails` receives are valid, and that `fails` is
/// true for the result.
ShrinkResult check_shrink(const ir::Graph& graph,
                          const std::function<bool(const ir::Graph&)>& fails) {
  int calls = 0;
  ir::Graph smallest = shrink(
      graph,
      [&](const ir::Graph& tried) {
        ++calls;
        EXPECT_TRUE(ir::verify(tried).ok()) << ir::print(tried);
        return fails(tried);
      },
      kCallsMax);
  EXPECT_LE(calls, kCallsMax);
  EXPECT_TRUE(ir::verify(smallest).ok());
  EXPECT_TRUE(fails(smallest)) << ir::print(smallest);
  return {std::move(smallest), calls};
}

bool has_kind(const ir::Graph& graph, ir::OpKind kind) {
  return std::ranges::any_of(graph.ops(), [&](const ir::Op& op) { return op.kind == kind; });
}

/// Returns true if an operator of kind `second` reads the result of one of kind `first`.
bool has_pair(const ir::Graph& graph, ir::OpKind first, ir::OpKind second) {
  for (const ir::Op& op : graph.ops()) {
    if (op.kind != second) continue;
    for (const ir::Op& producer : graph.ops()) {
      if (producer.kind == first && std::ranges::count(op.inputs, producer.output) != 0) {
        return true;
      }
    }
  }
  return false;
}

TEST(Shrink, OneOperatorRemains) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const ir::Graph graph = test::random_integer_graph(seed, {8, false});
    const ir::OpKind kind = graph.ops()[seed % graph.ops().size()].kind;
    const auto fails = [&](const ir::Graph& tried) { return has_kind(tried, kind); };
    const ShrinkResult result = check_shrink(graph, fails);
    EXPECT_EQ(result.graph.ops().size(), 1U) << "seed " << seed << "\n" << ir::print(result.graph);
    EXPECT_EQ(result.graph.outputs().size(), 1U) << "seed " << seed;
    EXPECT_TRUE(result.graph.states().empty()) << "seed " << seed;
  }
}

TEST(Shrink, TwoOperatorsRemain) {
  int tested = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const ir::Graph graph = test::random_integer_graph(seed, {8, false});
    const ir::Op& last = graph.ops().back();
    const auto producer = std::ranges::find_if(graph.ops(), [&](const ir::Op& op) {
      return std::ranges::count(last.inputs, op.output) != 0;
    });
    if (producer == graph.ops().end()) continue;
    ++tested;
    const ShrinkResult result = check_shrink(
        graph, [&](const ir::Graph& tried) { return has_pair(tried, producer->kind, last.kind); });
    EXPECT_EQ(result.graph.ops().size(), 2U) << "seed " << seed << "\n" << ir::print(result.graph);
  }
  EXPECT_GE(tested, 30);
}

TEST(Shrink, ExtentsOfElementwiseOperatorsBecomeOne) {
  int tested = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const ir::Graph graph = test::random_integer_graph(seed, {8, false});
    if (!has_kind(graph, ir::OpKind::qadd)) continue;
    ++tested;
    const ShrinkResult result = check_shrink(
        graph, [](const ir::Graph& tried) { return has_kind(tried, ir::OpKind::qadd); });
    const ir::Graph& smallest = result.graph;
    EXPECT_EQ(smallest.type(smallest.outputs()[0]).elements(), 1) << ir::print(smallest);
  }
  EXPECT_GE(tested, 5);
}

TEST(Shrink, StopsAfterTheLastCall) {
  int calls = 0;
  const ir::Graph graph = test::random_integer_graph(1, {8, false});
  const ir::Graph smaller = shrink(
      graph, [&](const ir::Graph&) { return ++calls, true; }, 2);
  EXPECT_EQ(calls, 2);
  EXPECT_GT(smaller.ops().size(), 1U);
}

TEST(Shrink, NothingSmallerFails) {
  const ir::Graph graph = test::random_integer_graph(1, {8, false});
  const std::string text = ir::print(graph);
  const ShrinkResult result =
      check_shrink(graph, [&](const ir::Graph& tried) { return ir::print(tried) == text; });
  EXPECT_EQ(ir::print(result.graph), text);
  EXPECT_GT(result.calls, 0);
}

}  // namespace
}  // namespace thimble::fuzz
