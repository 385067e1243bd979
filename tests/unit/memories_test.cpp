// SPDX-License-Identifier: Apache-2.0
// Placement of objects in memories: small cases get the result of an exhaustive search. An object
// that fits nowhere is named.

#include "memory/memory_assignment.h"

#include <gtest/gtest.h>

#include <random>

namespace thimble::memory {
namespace {

constexpr int64_t kAlignment = 16;

int64_t aligned(int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// Returns the cost of an assignment; nothing if an object or its load image does not fit.
std::optional<int64_t> cost_of(const std::vector<Object>& objects,
                               const std::vector<Memory>& memories,
                               const std::vector<size_t>& choice) {
  std::vector<int64_t> used(memories.size(), 0);
  int64_t cost = 0;
  for (size_t i = 0; i < objects.size(); ++i) {
    if (!objects[i].allowed[choice[i]]) return {};
    used[choice[i]] += aligned(objects[i].bytes);
    if (objects[i].constant && !memories[choice[i]].non_volatile) {
      if (!image_memory(memories)) return {};
      used[*image_memory(memories)] += aligned(objects[i].bytes);
    }
    cost += cost_in(objects[i], memories[choice[i]]);
  }
  for (size_t m = 0; m < memories.size(); ++m) {
    if (used[m] > memories[m].bytes) return {};
  }
  return cost;
}

/// Returns the least cost of all assignments.
std::optional<int64_t> exhaustive(const std::vector<Object>& objects,
                                  const std::vector<Memory>& memories) {
  std::optional<int64_t> best;
  std::vector<size_t> choice(objects.size(), 0);
  for (;;) {
    const std::optional<int64_t> cost = cost_of(objects, memories, choice);
    if (cost && (!best || *cost < *best)) best = cost;
    size_t at = 0;
    while (at < choice.size() && ++choice[at] == memories.size()) choice[at++] = 0;
    if (at == choice.size()) return best;
  }
}

struct RandomCase {
  std::vector<Object> objects;
  std::vector<Memory> memories;
};

RandomCase random_case(std::mt19937* random) {
  const auto below = [&](int64_t end) { return static_cast<int64_t>((*random)() % end); };
  RandomCase world;
  const int64_t memories = 1 + below(4);
  for (int64_t m = 0; m < memories; ++m) {
    world.memories.push_back({16 * (1 + below(40)), 1000 * (1 + below(6)), below(3) == 0});
  }
  const int64_t objects = 1 + below(5);
  for (int64_t i = 0; i < objects; ++i) {
    Object object;
    object.bytes = 1 + below(160);
    object.accessed_bytes = below(4) == 0 ? 0 : below(4000);
    object.constant = below(2) == 0;
    for (const Memory& memory : world.memories) {
      object.allowed.push_back((object.constant || !memory.non_volatile) && below(8) != 0);
    }
    world.objects.push_back(object);
    if (below(3) == 0 && i < 4) world.objects.push_back(std::move(object));  // an equal object
  }
  return world;
}

TEST(Memories, SmallCasesEqualExhaustiveSearch) {
  int fitting = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    std::mt19937 random(seed);
    const RandomCase world = random_case(&random);
    const std::optional<int64_t> best = exhaustive(world.objects, world.memories);
    const MemoryAssignment settled = assign_memories(world.objects, world.memories, kAlignment);
    ASSERT_EQ(settled.shortage.has_value(), !best) << "seed " << seed;
    if (!best) continue;
    ++fitting;
    ASSERT_TRUE(settled.proven) << "seed " << seed;
    ASSERT_EQ(settled.cost, *best) << "seed " << seed;
    ASSERT_EQ(settled.lower_bound, *best) << "seed " << seed;
    ASSERT_EQ(cost_of(world.objects, world.memories, settled.memory_of_object), *best)
        << "seed " << seed;
  }
  EXPECT_GT(fitting, 1000);
}

TEST(Memories, ResultFitsWithoutSearchSteps) {
  int solved = 0, missed = 0, unproven = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    std::mt19937 random(seed);
    const RandomCase world = random_case(&random);
    const MemoryAssignment settled = assign_memories(world.objects, world.memories, kAlignment, 20);
    const std::optional<int64_t> best = exhaustive(world.objects, world.memories);
    if (settled.shortage) {
      missed += best ? 1 : 0;
      continue;
    }
    ++solved;
    unproven += settled.proven ? 0 : 1;
    const std::optional<int64_t> cost =
        cost_of(world.objects, world.memories, settled.memory_of_object);
    ASSERT_EQ(cost, settled.cost) << "seed " << seed;
    ASSERT_TRUE(best.has_value()) << "seed " << seed;
    ASSERT_GE(settled.cost, *best) << "seed " << seed;
    ASSERT_LE(settled.lower_bound, *best) << "seed " << seed;
  }
  EXPECT_GE(solved, 1400);
  EXPECT_LE(missed, 10) << "a shortage was reported where an assignment exists";
  EXPECT_GE(unproven, 150) << "the limit of steps must end some searches";
}

const std::vector<bool> kAnywhere = {true, true};
const std::vector<Memory> kRamAndFlash = {{64, 1000, false}, {1024, 9000, true}};

TEST(Memories, MostAccessedBytesAreInFastestMemory) {
  const std::vector<Object> objects = {{64, 100, true, kAnywhere}, {64, 900, true, kAnywhere}};
  const MemoryAssignment settled = assign_memories(objects, kRamAndFlash, kAlignment);
  EXPECT_EQ(settled.memory_of_object, (std::vector<size_t>{1, 0}));
}

TEST(Memories, UnreadConstantsStayInFlash) {
  const std::vector<Object> objects = {{16, 0, true, kAnywhere}, {16, 0, false, {true, false}}};
  const MemoryAssignment settled = assign_memories(objects, kRamAndFlash, kAlignment);
  EXPECT_EQ(settled.memory_of_object, (std::vector<size_t>{1, 0}));
}

TEST(Memories, ConstantsInRamAlsoNeedFlash) {
  const std::vector<Memory> memories = {{64, 1000, false}, {32, 9000, true}};
  const std::vector<Object> objects = {{64, 100, true, kAnywhere}};
  const MemoryAssignment settled = assign_memories(objects, memories, kAlignment);
  ASSERT_TRUE(settled.shortage);
  EXPECT_EQ(settled.shortage->object, 0U);
  EXPECT_EQ(settled.shortage->room_bytes, 32);
}

TEST(Memories, ErrorNamesObjectAndFreeBytes) {
  const std::vector<Object> objects = {{48, 10, false, {true, false}},
                                       {40, 10, false, {true, false}}};
  const MemoryAssignment settled = assign_memories(objects, kRamAndFlash, kAlignment);
  ASSERT_TRUE(settled.shortage);
  EXPECT_EQ(settled.shortage->object, 1U);
  EXPECT_EQ(settled.shortage->memory, 0U);
  EXPECT_EQ(settled.shortage->room_bytes, 16);
  const std::vector<Object> unplaceable = {{16, 10, false, {false, false}}};
  const MemoryAssignment none = assign_memories(unplaceable, kRamAndFlash, kAlignment);
  ASSERT_TRUE(none.shortage);
  EXPECT_FALSE(none.shortage->memory);
}

/// A case of a network's size: a few RAMs and flashes, a hundred arrays.
TEST(Memories, LargeCasesAreSolvedWithinStepLimit) {
  const std::vector<Memory> memories = {{131072, 1000, false},
                                        {786432, 2000, false},
                                        {8388608, 36000, true},
                                        {33554432, 7200, false}};
  std::mt19937 random(1);
  std::vector<Object> objects = {{150000, 9000000, false, {true, true, false, true}}};
  for (int i = 0; i < 120; ++i) {
    const auto bytes = static_cast<int64_t>(random() % 40000 + 16);
    const auto times = static_cast<int64_t>(random() % 400 + 1);
    objects.push_back({bytes, bytes * times, true, {true, true, true, true}});
  }
  const MemoryAssignment settled = assign_memories(objects, memories, kAlignment);
  ASSERT_FALSE(settled.shortage);
  EXPECT_LE(settled.cost - settled.lower_bound, settled.cost / 100);
  EXPECT_EQ(cost_of(objects, memories, settled.memory_of_object), settled.cost);
  EXPECT_EQ(assign_memories(objects, memories, kAlignment).memory_of_object,
            settled.memory_of_object);
}

}  // namespace
}  // namespace thimble::memory
