// SPDX-License-Identifier: Apache-2.0
// Execution order: valid, no worse than the given one, and optimal where all orders can be tried.

#include "memory/execution_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <span>

#include "ir_random_graph.h"

namespace thimble::memory {
namespace {

struct Graph {
  std::vector<Step> work;
  std::vector<ValueLifetime> values;
};

/// Step i produces value i + 1; value 0 is the input.
Graph random_graph(uint64_t seed, int count) {
  test::Random random(seed);
  Graph graph;
  graph.values.push_back({random.between(1, 20), false});
  for (int i = 0; i < count; ++i) {
    Step work;
    for (int64_t reads = random.between(1, 2); reads > 0; --reads) {
      work.reads.push_back(static_cast<int>(random.between(0, i)));
    }
    work.writes = {i + 1};
    work.scratch_bytes = random.chance(20) ? random.between(1, 10) : 0;
    graph.work.push_back(work);
    graph.values.push_back({random.between(1, 20), i + 1 == count});
  }
  return graph;
}

bool is_valid(const Graph& graph, const std::vector<int>& order) {
  std::set<int> there = {0};
  for (const int i : order) {
    const Step& work = graph.work[static_cast<size_t>(i)];
    for (const int value : work.reads) {
      if (!there.contains(value)) return false;
    }
    there.insert(work.writes[0]);
  }
  return there.size() == graph.values.size();
}

TEST(Order, SmallGraphsGetBestOfAllOrders) {
  int improved = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Graph graph = random_graph(seed, 7);
    std::vector<int> order(graph.work.size());
    std::iota(order.begin(), order.end(), 0);
    const int64_t given = peak_of(graph.work, graph.values, order);
    int64_t best = given;
    do {
      if (is_valid(graph, order)) best = std::min(best, peak_of(graph.work, graph.values, order));
    } while (std::next_permutation(order.begin(), order.end()));
    const auto found = better_order(graph.work, graph.values);
    ASSERT_EQ(found.has_value(), best < given) << "seed " << seed;
    if (!found) continue;
    ++improved;
    ASSERT_TRUE(is_valid(graph, *found)) << "seed " << seed;
    ASSERT_EQ(peak_of(graph.work, graph.values, *found), best) << "seed " << seed;
  }
  EXPECT_GT(improved, 50);
}

TEST(Order, LargeGraphsGetValidOrdersAndLowerPeaks) {
  int improved = 0;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    const Graph graph = random_graph(seed, 40);
    const auto found = better_order(graph.work, graph.values);
    if (!found) continue;
    ++improved;
    ASSERT_TRUE(is_valid(graph, *found)) << "seed " << seed;
    std::vector<int> given(graph.work.size());
    std::iota(given.begin(), given.end(), 0);
    ASSERT_LT(peak_of(graph.work, graph.values, *found), peak_of(graph.work, graph.values, given));
  }
  EXPECT_GT(improved, 3);
}

TEST(Order, BranchThatShrinksRunsFirst) {
  // x -> big -> small; x -> middle; both are joined. In the given order, middle is live during big.
  const std::vector<ValueLifetime> values = {
      {10, false}, {50, false}, {100, false}, {1, false}, {1, true}};
  const std::vector<Step> work = {
      {{0}, {1}, 0, 0}, {{0}, {2}, 0, 0}, {{2}, {3}, 0, 0}, {{1, 3}, {4}, 0, 0}};
  const std::vector<int> given = {0, 1, 2, 3};
  EXPECT_EQ(peak_of(work, values, given), 151);
  const auto found = better_order(work, values);
  ASSERT_TRUE(found);
  EXPECT_EQ(peak_of(work, values, *found), 101);
}

TEST(Order, PeakCountsScratchAndSharedBytes) {
  const std::vector<ValueLifetime> values = {{10, false}, {50, false}, {30, true}, {40, true}};
  const std::vector<int> order = {0, 1};
  // The second result shares 20 bytes with its operand, which dies there.
  const std::vector<Step> steps = {{{0}, {1}, 7, 0}, {{1}, {2}, 0, 20}};
  EXPECT_EQ(peak_of(std::span(steps).first(1), values, std::span(order).first(1)), 57);
  EXPECT_EQ(peak_of(steps, values, order), 60);
  // The operand is read again later: nothing is shared.
  const std::vector<Step> longer = {{{0}, {1}, 0, 0}, {{1}, {2}, 0, 20}, {{1}, {3}, 0, 0}};
  const std::vector<int> all = {0, 1, 2};
  EXPECT_EQ(peak_of(longer, values, all), 120);
  // A step without operands shares nothing.
  const std::vector<Step> first = {{{}, {1}, 0, 20}, {{1}, {2}, 0, 0}};
  EXPECT_EQ(peak_of(first, values, order), 80);
}

}  // namespace
}  // namespace thimble::memory
