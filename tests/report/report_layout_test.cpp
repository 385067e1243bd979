// SPDX-License-Identifier: Apache-2.0
// The layout of the report's graph: nodes and lines of random graphs do not overlap.

#include "report/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <set>

namespace thimble::report {
namespace {

struct Sample {
  size_t nodes = 0;
  std::vector<LayoutEdge> edges;
};

/// A chain of nodes with skips, as networks have them, and some free edges.
Sample random_sample(uint32_t seed, size_t nodes) {
  std::mt19937 random(seed);
  std::set<std::pair<size_t, size_t>> edges;
  for (size_t node = 1; node < nodes; ++node) {
    const size_t back = 1 + random() % std::min<size_t>(node, random() % 4 == 0 ? 30 : 2);
    edges.emplace(node - back, node);
    if (random() % 3 == 0) edges.emplace(random() % node, node);
  }
  Sample sample{nodes, {}};
  for (const auto& [from, to] : edges) sample.edges.push_back({from, to});
  return sample;
}

Layout layout_of(const Sample& sample, const LayoutOptions& options) {
  return layered_layout(sample.nodes, sample.edges, options);
}

void check(const Sample& sample, const LayoutOptions& options) {
  const Layout layout = layout_of(sample, options);
  ASSERT_EQ(layout.centers.size(), sample.nodes);
  ASSERT_EQ(layout.routes.size(), sample.edges.size());
  const double half_width = options.node_width / 2, half_height = options.node_height / 2;
  for (size_t i = 0; i < sample.nodes; ++i) {
    const Point& a = layout.centers[i];
    EXPECT_GE(a.x - half_width, 0);
    EXPECT_GE(a.y - half_height, 0);
    EXPECT_LE(a.x + half_width, layout.width);
    EXPECT_LE(a.y + half_height, layout.height);
    for (size_t k = 0; k < i; ++k) {
      const Point& b = layout.centers[k];
      EXPECT_TRUE(std::abs(a.x - b.x) >= options.node_width ||
                  std::abs(a.y - b.y) >= options.node_height)
          << "nodes " << k << " and " << i << " overlap";
    }
  }
  for (size_t i = 0; i < sample.edges.size(); ++i) {
    const Route& route = layout.routes[i];
    const Point& from = layout.centers[sample.edges[i].from];
    const Point& to = layout.centers[sample.edges[i].to];
    EXPECT_DOUBLE_EQ(route.front().x, from.x);
    EXPECT_DOUBLE_EQ(route.front().y, from.y + half_height);
    EXPECT_DOUBLE_EQ(route.back().x, to.x);
    EXPECT_DOUBLE_EQ(route.back().y, to.y - half_height);
    for (const Point& point : route) {
      EXPECT_GE(point.x, 0);
      EXPECT_GE(point.y, 0);
      EXPECT_LE(point.x, layout.width);
      EXPECT_LE(point.y, layout.height);
    }
    // A curve between two points is inside of their rectangle, so a line meets a node only if a
    // straight part does.
    for (size_t k = 1; k < route.size(); ++k) {
      const Point &a = route[k - 1], &b = route[k];
      if (a.x != b.x && a.y != b.y) continue;
      for (size_t node = 0; node < sample.nodes; ++node) {
        if (node == sample.edges[i].from || node == sample.edges[i].to) continue;
        const Point& center = layout.centers[node];
        const bool apart = std::max(a.x, b.x) < center.x - half_width ||
                           std::min(a.x, b.x) > center.x + half_width ||
                           std::max(a.y, b.y) < center.y - half_height ||
                           std::min(a.y, b.y) > center.y + half_height;
        EXPECT_TRUE(apart) << "edge " << i << " crosses node " << node;
      }
    }
  }
}

TEST(Layout, nodes_and_lines_of_random_graphs_do_not_overlap) {
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    LayoutOptions options;
    options.aspect = seed % 3 == 0 ? 0.5 : 1.4;
    check(random_sample(seed, 1 + seed % 90), options);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Layout, an_edge_goes_down_or_to_the_next_column) {
  const Sample sample = random_sample(7, 60);
  const LayoutOptions options;
  const Layout layout = layout_of(sample, options);
  for (size_t i = 0; i < sample.edges.size(); ++i) {
    const Point& from = layout.centers[sample.edges[i].from];
    const Point& to = layout.centers[sample.edges[i].to];
    EXPECT_TRUE(to.y > from.y || to.x > from.x) << "edge " << i;
  }
}

TEST(Layout, a_chain_is_straight_and_fills_columns) {
  Sample sample{60, {}};
  for (size_t node = 1; node < sample.nodes; ++node) sample.edges.push_back({node - 1, node});
  const LayoutOptions options;
  const Layout layout = layout_of(sample, options);
  std::set<long> columns;
  for (const Point& center : layout.centers) columns.insert(std::lround(center.x));
  EXPECT_GE(columns.size(), 3U);
  EXPECT_LE(columns.size(), 6U);
  const double ratio = layout.width / layout.height;
  EXPECT_GT(ratio, options.aspect / 1.4);
  EXPECT_LT(ratio, options.aspect * 1.4);
}

TEST(Layout, a_chain_with_skips_stays_straight) {
  // Residual blocks of three nodes: the skip bends, the chain does not.
  Sample sample{13, {}};
  for (size_t node = 1; node < sample.nodes; ++node) sample.edges.push_back({node - 1, node});
  for (size_t node = 0; node + 3 < sample.nodes; node += 3)
    sample.edges.push_back({node, node + 3});
  LayoutOptions options;
  options.aspect = 0.01;  // one column
  const Layout layout = layout_of(sample, options);
  for (const Point& center : layout.centers) EXPECT_DOUBLE_EQ(center.x, layout.centers[0].x);
}

TEST(Layout, small_graphs) {
  EXPECT_TRUE(layered_layout(0, {}, {}).centers.empty());
  check({1, {}}, {});
  check({3, {}}, {});
  check({2, {{0, 1}}}, {});
}

TEST(Layout, equal_graphs_have_equal_layouts) {
  const Sample sample = random_sample(3, 80);
  const Layout a = layout_of(sample, {}), b = layout_of(sample, {});
  for (size_t i = 0; i < sample.nodes; ++i) {
    EXPECT_EQ(a.centers[i].x, b.centers[i].x);
    EXPECT_EQ(a.centers[i].y, b.centers[i].y);
  }
}

TEST(Layout, a_thousand_operators_take_less_than_two_seconds) {
  const Sample sample = random_sample(11, 1000);
  const auto begin = std::chrono::steady_clock::now();
  const Layout layout = layout_of(sample, {});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(layout.centers.size(), 1000U);
  EXPECT_LT(seconds.count(), 2.0);
  RecordProperty("seconds", std::to_string(seconds.count()));
  std::printf("1,000 nodes, %zu edges: %.3f s\n", sample.edges.size(), seconds.count());
}

}  // namespace
}  // namespace thimble::report
