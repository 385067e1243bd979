// SPDX-License-Identifier: Apache-2.0
// The planner: placements are valid, and at the lower bound where they claim it. Small cases are
// compared with the optimum of all orders.

#include "memory/placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "ir_random_graph.h"
#include "memory/arena.h"

namespace thimble::memory {
namespace {

TEST(Planner, EmptyPlanHasPeakZero) {
  const Placement placement = place({}, 16);
  EXPECT_EQ(placement.peak_bytes, 0);
  EXPECT_EQ(placement.lower_bound_bytes, 0);
}

TEST(Planner, ChainNeedsLargestPairOfNeighbours) {
  const std::vector<Buffer> chain = {{100, {0, 1}}, {300, {1, 2}}, {50, {2, 3}}, {200, {3, 4}}};
  const Placement placement = place(chain, 1);
  EXPECT_EQ(placement.peak_bytes, 400);
  EXPECT_TRUE(placement.proven_minimal());
  EXPECT_TRUE(is_valid(chain, placement));
}

TEST(Planner, SizesAndOffsetsAreAligned) {
  const std::vector<Buffer> pair = {{1, {0, 1}}, {17, {0, 1}}};
  const Placement placement = place(pair, 16);
  EXPECT_EQ(placement.peak_bytes, 48);
  for (const int64_t offset : placement.offsets) EXPECT_EQ(offset % 16, 0);
}

TEST(Planner, EmptyBuffersNeedNoMemory) {
  const std::vector<Buffer> buffers = {{0, {0, 3}}, {64, {1, 2}}, {0, {1, 2}}};
  const Placement placement = place(buffers, 16);
  EXPECT_EQ(placement.peak_bytes, 64);
}

TEST(Planner, IsValidDetectsOverlapAndOverflow) {
  const std::vector<Buffer> pair = {{16, {0, 1}}, {16, {1, 2}}};
  EXPECT_FALSE(is_valid(pair, {{0, 8}, 24, 32}));
  EXPECT_FALSE(is_valid(pair, {{0, 16}, 24, 32}));
  EXPECT_TRUE(is_valid(pair, {{0, 16}, 32, 32}));
}

/// Returns the peak of first fit in this order. Every optimal placement is first fit of some order.
int64_t peak_of_order(const std::vector<Buffer>& buffers, const std::vector<Overlap>& overlaps,
                      const std::vector<size_t>& order) {
  std::vector<int64_t> offset(buffers.size(), -1);
  /// Minimum distance between the starts of `low` and `high`, if `high` is above `low`.
  const auto apart = [&](size_t high, size_t low) {
    for (const Overlap& o : overlaps) {
      const bool these =
          static_cast<size_t>(o.operand) == high && static_cast<size_t>(o.result) == low;
      if (these) return std::min(o.lead, buffers[low].bytes);
    }
    return buffers[low].bytes;
  };
  int64_t peak = 0;
  for (const size_t i : order) {
    int64_t at = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t k = 0; k < buffers.size(); ++k) {
        const bool together = buffers[i].life.first <= buffers[k].life.last &&
                              buffers[k].life.first <= buffers[i].life.last;
        if (offset[k] < 0 || !together) continue;
        if (at < offset[k] + apart(i, k) && offset[k] < at + apart(k, i)) {
          at = offset[k] + apart(i, k);
          moved = true;
        }
      }
    }
    offset[i] = at;
    peak = std::max(peak, at + buffers[i].bytes);
  }
  return peak;
}

int64_t best_of_all_orders(const std::vector<Buffer>& buffers,
                           const std::vector<Overlap>& overlaps) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  int64_t best = INT64_MAX;
  do {
    best = std::min(best, peak_of_order(buffers, overlaps, order));
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(Planner, SmallPlansAreOptimal) {
  for (uint64_t seed = 0; seed < 600; ++seed) {
    test::Random random(seed);
    std::vector<Buffer> buffers;
    for (int64_t i = random.between(2, 7); i > 0; --i) {
      const auto first = static_cast<int>(random.between(0, 6));
      buffers.push_back(
          {random.between(1, 9), {first, first + static_cast<int>(random.between(0, 3))}});
    }
    const Placement placement = place(buffers, 1, {}, kProgramSteps);
    ASSERT_TRUE(is_valid(buffers, placement)) << "seed " << seed;
    ASSERT_TRUE(placement.proven_minimal()) << "seed " << seed;
    ASSERT_EQ(placement.peak_bytes, best_of_all_orders(buffers, {})) << "seed " << seed;
  }
}

TEST(Planner, SmallPlansWithOverlapsAreOptimal) {
  int shared = 0;
  for (uint64_t seed = 0; seed < 600; ++seed) {
    test::Random random(seed);
    std::vector<Buffer> buffers;
    std::vector<Overlap> overlaps;
    for (int64_t i = random.between(2, 7); i > 0; --i) {
      const auto first = static_cast<int>(random.between(0, 6));
      buffers.push_back(
          {random.between(1, 9), {first, first + static_cast<int>(random.between(0, 3))}});
    }
    // At most one overlapping pair per step, as in a program.
    for (int step = 0; step < 10; ++step) {
      const auto dies =
          std::ranges::find(buffers, step, [](const Buffer& b) { return b.life.last; });
      const auto born =
          std::ranges::find(buffers, step, [](const Buffer& b) { return b.life.first; });
      if (dies == buffers.end() || born == buffers.end() || dies == born) continue;
      overlaps.push_back({static_cast<int>(dies - buffers.begin()),
                          static_cast<int>(born - buffers.begin()), random.between(1, 6)});
    }
    const Placement placement = place(buffers, 1, overlaps, kProgramSteps);
    ASSERT_TRUE(is_valid(buffers, placement, overlaps)) << "seed " << seed;
    ASSERT_TRUE(placement.proven_minimal()) << "seed " << seed;
    ASSERT_EQ(placement.peak_bytes, best_of_all_orders(buffers, overlaps)) << "seed " << seed;
    shared += is_valid(buffers, placement) ? 0 : 1;
  }
  EXPECT_GT(shared, 100);
}

TEST(Planner, OverlapIsValidOnlyFromItsLead) {
  const std::vector<Buffer> pair = {{64, {0, 1}}, {64, {1, 2}}};
  const std::vector<Overlap> overlaps = {{0, 1, 16}};
  EXPECT_EQ(place(pair, 16, overlaps).peak_bytes, 80);
  EXPECT_TRUE(is_valid(pair, {{16, 0}, 80, 0}, overlaps));
  EXPECT_FALSE(is_valid(pair, {{8, 0}, 80, 0}, overlaps));
  EXPECT_FALSE(is_valid(pair, {{0, 16}, 80, 0}, overlaps));
  // The operand is read once more, so it must not be overwritten.
  const std::vector<Buffer> read_again = {{64, {0, 2}}, {64, {1, 2}}};
  EXPECT_EQ(place(read_again, 16, overlaps).peak_bytes, 128);
  EXPECT_FALSE(is_valid(read_again, {{16, 0}, 80, 0}, overlaps));
}

/// Returns the values of a random operator graph, in execution order. Each reads up to three
/// earlier values, mostly recent ones. Sizes are even, products of two numbers, or powers of two.
std::vector<Buffer> random_dag(uint64_t seed) {
  test::Random random(seed);
  const auto count = static_cast<int>(random.between(10, 60));
  const int64_t reach = random.between(2, 12);
  const int64_t sizes = random.between(0, 2);
  std::vector<Buffer> buffers;
  const auto read = [&](int64_t from, int step) {
    int& last = buffers[static_cast<size_t>(std::max<int64_t>(0, from))].life.last;
    last = std::max(last, step);
  };
  for (int i = 0; i < count; ++i) {
    int64_t bytes = random.between(1, 4096);
    if (sizes == 1) bytes = random.between(1, 64) * random.between(1, 64) * 16;
    if (sizes == 2) bytes = int64_t{16} << random.between(0, 10);
    buffers.push_back({bytes, {i, i}});
    if (i == 0) continue;
    for (int64_t reads = random.between(1, 3); reads > 0; --reads) {
      read(i - random.between(1, reach), i);
    }
    if (random.chance(10)) read(random.between(0, i - 1), i);
  }
  return buffers;
}

TEST(Planner, RandomDagsAreProvenMinimal) {
  int proven = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const std::vector<Buffer> buffers = random_dag(seed);
    const Placement placement = place(buffers, 16, {}, kProgramSteps);
    ASSERT_TRUE(is_valid(buffers, placement)) << "seed " << seed;
    ASSERT_GE(placement.peak_bytes, placement.lower_bound_bytes) << "seed " << seed;
    proven += placement.proven_minimal() ? 1 : 0;
  }
  EXPECT_GE(proven, 995);
}

TEST(Planner, LargeRandomPlansAreValid) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    test::Random random(seed);
    std::vector<Buffer> buffers;
    for (int i = 0; i < 80; ++i) {
      const auto first = static_cast<int>(random.between(0, 60));
      buffers.push_back(
          {random.between(0, 5000), {first, first + static_cast<int>(random.between(0, 8))}});
    }
    const Placement placement = place(buffers, 16);
    ASSERT_TRUE(is_valid(buffers, placement)) << "seed " << seed;
  }
}

TEST(Arena, BuffersShareBytesOnlyIfTheyOverlap) {
  const PlacedBuffer first = {{64, {0, 3}}, 0};
  Arena arena(1024);
  arena.add(first);
  EXPECT_FALSE(arena.is_shared(first, 1)) << "with itself";
  const PlacedBuffer next = {{32, {2, 5}}, 64};
  arena.add(next);
  EXPECT_FALSE(arena.is_shared(first, 2)) << "the bytes after it";
  EXPECT_FALSE(arena.is_shared(next, 2)) << "the bytes before it";
  const PlacedBuffer over = {{32, {3, 5}}, 63};
  arena.add(over);
  EXPECT_TRUE(arena.is_shared(first, 3));
  EXPECT_TRUE(arena.is_shared(over, 3));
  EXPECT_FALSE(arena.is_shared(first, 2)) << "at another step";
  EXPECT_EQ(arena.peak_bytes(), 96);
}

}  // namespace
}  // namespace thimble::memory
