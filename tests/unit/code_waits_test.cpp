// SPDX-License-Identifier: Apache-2.0
// Wait states of instructions (docs/cycles.md, "Wait states of code"): counted by hand for a core
// whose reads are round numbers.

#include "driver/code_waits.h"

#include <gtest/gtest.h>

#include "driver/run_time.h"

namespace thimble::driver {
namespace {

// In 100 cycles the core executes 200 bytes and jumps 5 times. A cache of 64 bytes lacks half of
// its reads, one of 1 KB a tenth. If the cache keeps only lines after jumps, 16 bytes lack 2 of 5.
constexpr engine::CodeTraffic kTraffic = {2,
                                          0.05,
                                          {1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.1, 0.1, 0, 0},
                                          {0.8, 0.4, 0.4, 0, 0, 0, 0, 0, 0, 0, 0}};

engine::Core core() {
  engine::Core core;
  core.code_traffic = [](const engine::Core&) { return &kTraffic; };
  return core;
}

engine::PartMemory flash(double waits, int64_t line, std::optional<int64_t> cache) {
  engine::PartMemory memory;
  memory.name = "flash";
  memory.wait_states = waits;
  memory.line_bytes = line;
  memory.instruction_cache_bytes = cache;
  return memory;
}

double waits_of_100_cycles(const engine::PartMemory& memory) {
  return code_wait_cycles(&memory, core(), 100);
}

TEST(CodeWaits, WithoutCacheEachJumpAndEachLineWaits) {
  // 5 jumps and 200 / 8 = 25 lines.
  EXPECT_DOUBLE_EQ(waits_of_100_cycles(flash(2, 8, 0)), 30 * 2);
  // 200 / 16 = 12.5 lines.
  EXPECT_DOUBLE_EQ(waits_of_100_cycles(flash(2, 16, 0)), 17.5 * 2);
  EXPECT_DOUBLE_EQ(waits_of_100_cycles(flash(0, 8, 0)), 0);
}

TEST(CodeWaits, PrefetchHidesTheReadOfTheNextLine) {
  // The core executes a line of 8 bytes for 4 cycles, longer than the 3 cycles of a read: only
  // jumps wait, 4 of 5, because one is to the next line.
  engine::PartMemory memory = flash(2, 8, 0);
  memory.prefetch = true;
  EXPECT_DOUBLE_EQ(waits_of_100_cycles(memory), 4 * 2);
  memory.instruction_cache_bytes = 16;
  EXPECT_DOUBLE_EQ(waits_of_100_cycles(memory), 2 * 2);
  memory.instruction_cache_bytes = 64;
  EXPECT_DOUBLE_EQ(waits_of_100_cycles(memory), 0);
  // Three wait states: the read takes as long as the line is executed.
  memory = flash(3, 8, 0);
  memory.prefetch = true;
  EXPECT_DOUBLE_EQ(waits_of_100_cycles(memory), 4 * 3);
  // A read takes 6 cycles, 2 more than a line of 8 bytes is executed.
  memory.wait_states = 5;
  EXPECT_DOUBLE_EQ(waits_of_100_cycles(memory), 5 * 5 + 25 * 2);
  // A word is executed in 2 cycles: the prefetch hides one of 5.
  memory.line_bytes = 4;
  EXPECT_DOUBLE_EQ(waits_of_100_cycles(memory), 5 * 5 + 50 * 4);
}

TEST(CodeWaits, ACacheHoldsAShareOfTheReads) {
  // The largest measured size that is not larger: 64 bytes for 100.
  EXPECT_DOUBLE_EQ(waits_of_100_cycles(flash(2, 8, 100)), 30);
  EXPECT_DOUBLE_EQ(waits_of_100_cycles(flash(2, 8, 1024)), 6);
  EXPECT_DOUBLE_EQ(waits_of_100_cycles(flash(2, 8, 4096)), 0);
  // Smaller than the smallest measured size: as none.
  EXPECT_DOUBLE_EQ(waits_of_100_cycles(flash(2, 8, 8)), 60);
}

TEST(CodeWaits, FactsThatTheFileLacks) {
  const auto known = [](const engine::PartMemory& memory) {
    return code_waits_known(&memory, core());
  };
  EXPECT_TRUE(known(flash(2, 8, 0)));
  // An unknown cache: no waits. An unknown access: words of 4 bytes.
  EXPECT_FALSE(known(flash(2, 8, std::nullopt)));
  EXPECT_DOUBLE_EQ(waits_of_100_cycles(flash(2, 8, std::nullopt)), 0);
  EXPECT_FALSE(known(flash(2, 0, 0)));
  EXPECT_DOUBLE_EQ(waits_of_100_cycles(flash(2, 0, 0)), (5 + 50) * 2);
  // Nothing else matters without wait states, or with a cache for all loops.
  EXPECT_TRUE(known(flash(0, 0, std::nullopt)));
  engine::PartMemory unknown = flash(0, 0, 8192);
  unknown.wait_states.reset();
  EXPECT_TRUE(known(unknown));
  EXPECT_DOUBLE_EQ(waits_of_100_cycles(unknown), 0);
  EXPECT_TRUE(code_waits_known(nullptr, core()));
  engine::Core unmeasured;
  const engine::PartMemory memory = flash(2, 8, 0);
  EXPECT_FALSE(code_waits_known(&memory, unmeasured));
  EXPECT_DOUBLE_EQ(code_wait_cycles(&memory, unmeasured, 100), 0);
}

TEST(CodeWaits, AreInTheCyclesOfTheRuntime) {
  engine::Core timed = core();
  timed.runtime_cycles = [](const engine::RuntimeWork& work, const engine::Core&) {
    return std::optional(work.of(engine::CallForm::kRecords).calls * 50);
  };
  engine::RuntimeWork work;
  work.of(engine::CallForm::kRecords).calls = 2;
  const engine::PartMemory memory = flash(2, 8, 0);
  EXPECT_EQ(runtime_cycles(work, timed, {}), 100);
  OperandMemories memories;
  memories.code = &memory;
  EXPECT_EQ(runtime_cycles(work, timed, memories), 160);
}

}  // namespace
}  // namespace thimble::driver
