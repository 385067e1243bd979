// The planner: placements are valid and at the lower bound where they claim it; small worlds are
// exhausted against an optimum found by trying every order.

#include "plan/planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "ir_random_graph.h"

namespace thimble::plan {
namespace {

TEST(Planner, empty_plan_needs_nothing) {
  const Placement placement = place({}, 16);
  EXPECT_EQ(placement.peak_bytes, 0);
  EXPECT_EQ(placement.lower_bound_bytes, 0);
}

TEST(Planner, a_chain_needs_its_largest_neighbours) {
  const std::vector<Buffer> chain = {{100, 0, 1}, {300, 1, 2}, {50, 2, 3}, {200, 3, 4}};
  const Placement placement = place(chain, 1);
  EXPECT_EQ(placement.peak_bytes, 400);
  EXPECT_TRUE(placement.proven_minimal());
  EXPECT_TRUE(is_valid(chain, placement));
}

TEST(Planner, sizes_and_offsets_are_rounded_to_the_alignment) {
  const std::vector<Buffer> pair = {{1, 0, 1}, {17, 0, 1}};
  const Placement placement = place(pair, 16);
  EXPECT_EQ(placement.peak_bytes, 48);
  for (const int64_t offset : placement.offsets) EXPECT_EQ(offset % 16, 0);
}

TEST(Planner, empty_buffers_take_no_place) {
  const std::vector<Buffer> buffers = {{0, 0, 3}, {64, 1, 2}, {0, 1, 2}};
  const Placement placement = place(buffers, 16);
  EXPECT_EQ(placement.peak_bytes, 64);
}

TEST(Planner, is_valid_sees_overlap_and_overflow) {
  const std::vector<Buffer> pair = {{16, 0, 1}, {16, 1, 2}};
  EXPECT_FALSE(is_valid(pair, {{0, 8}, 24, 32}));
  EXPECT_FALSE(is_valid(pair, {{0, 16}, 24, 32}));
  EXPECT_TRUE(is_valid(pair, {{0, 16}, 32, 32}));
}

/// Peak of first fit by this order; every optimal placement is first fit by some order.
int64_t peak_of_order(const std::vector<Buffer>& buffers, const std::vector<size_t>& order) {
  std::vector<int64_t> offset(buffers.size(), -1);
  int64_t peak = 0;
  for (const size_t i : order) {
    int64_t at = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t k = 0; k < buffers.size(); ++k) {
        const bool together =
            buffers[i].first <= buffers[k].last && buffers[k].first <= buffers[i].last;
        if (offset[k] < 0 || !together) continue;
        if (at < offset[k] + buffers[k].bytes && offset[k] < at + buffers[i].bytes) {
          at = offset[k] + buffers[k].bytes;
          moved = true;
        }
      }
    }
    offset[i] = at;
    peak = std::max(peak, at + buffers[i].bytes);
  }
  return peak;
}

TEST(Planner, small_plans_are_close_to_the_optimum_of_all_orders) {
  int optimal = 0;
  constexpr int kPlans = 300;
  for (uint64_t seed = 0; seed < kPlans; ++seed) {
    test::Random random(seed);
    std::vector<Buffer> buffers;
    for (int64_t i = random.between(2, 6); i > 0; --i) {
      const auto first = static_cast<int>(random.between(0, 6));
      buffers.push_back(
          {random.between(1, 9), first, first + static_cast<int>(random.between(0, 3))});
    }
    const Placement placement = place(buffers, 1);
    ASSERT_TRUE(is_valid(buffers, placement)) << "seed " << seed;
    ASSERT_GE(placement.peak_bytes, placement.lower_bound_bytes) << "seed " << seed;
    std::vector<size_t> order(buffers.size());
    std::iota(order.begin(), order.end(), size_t{0});
    int64_t best = INT64_MAX;
    do {
      best = std::min(best, peak_of_order(buffers, order));
    } while (std::next_permutation(order.begin(), order.end()));
    ASSERT_GE(placement.peak_bytes, best) << "seed " << seed;
    optimal += placement.peak_bytes == best ? 1 : 0;
  }
  EXPECT_GE(optimal, kPlans * 99 / 100);
}

TEST(Planner, large_random_plans_are_valid) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    test::Random random(seed);
    std::vector<Buffer> buffers;
    for (int i = 0; i < 80; ++i) {
      const auto first = static_cast<int>(random.between(0, 60));
      buffers.push_back(
          {random.between(0, 5000), first, first + static_cast<int>(random.between(0, 8))});
    }
    const Placement placement = place(buffers, 16);
    ASSERT_TRUE(is_valid(buffers, placement)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace thimble::plan
