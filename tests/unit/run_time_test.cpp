// SPDX-License-Identifier: Apache-2.0
// Wait states of operands (docs/cycles.md, "Wait states"): counted by hand for small operands, and
// the memories that a placement gives them.

#include "driver/operand_memories.h"

#include <gtest/gtest.h>

#include "driver/missing_waits.h"
#include "driver/run_time.h"

namespace thimble::driver {
namespace {

engine::Core core_of(abi::Isa isa) {
  engine::Core core;
  core.isa = isa;
  return core;
}

engine::PartMemory flash(double waits, std::optional<int64_t> cache, int64_t line) {
  engine::PartMemory memory;
  memory.wait_states = waits;
  memory.cache_bytes = cache;
  memory.line_bytes = line;
  return memory;
}

TEST(WaitCycles, WithoutCacheEachLoadWaits) {
  const engine::PartMemory memory = flash(2, 0, 8);
  EXPECT_EQ(wait_cycles(memory, core_of(abi::Isa::kThumb1), 100, 100), 200);
  EXPECT_EQ(wait_cycles(memory, core_of(abi::Isa::kDsp), 100, 100), 50);
  EXPECT_EQ(wait_cycles(memory, core_of(abi::Isa::kDsp), 100, 400), 200);
}

TEST(WaitCycles, WithCacheEachLineWaits) {
  const engine::PartMemory memory = flash(5, 256, 8);
  // They fit into the cache: 32 lines, once.
  EXPECT_EQ(wait_cycles(memory, core_of(abi::Isa::kDsp), 256, 2560), 160);
  // They do not fit: each pass reads all lines.
  EXPECT_EQ(wait_cycles(memory, core_of(abi::Isa::kDsp), 264, 2640), 330 * 5);
}

TEST(WaitCycles, AreZeroIfNotStated) {
  const engine::Core core = core_of(abi::Isa::kDsp);
  EXPECT_EQ(wait_cycles(flash(5, std::nullopt, 8), core, 100, 100), 0);
  EXPECT_EQ(wait_cycles(flash(5, 256, 0), core, 100, 100), 0);
  EXPECT_EQ(wait_cycles(flash(0, 256, 0), core, 100, 100), 0);
  EXPECT_EQ(wait_cycles(engine::PartMemory{}, core, 100, 100), 0);
}

TEST(WaitCycles, APrefetchOfInstructionsDoesNotHelpData) {
  engine::PartMemory memory = flash(4, 256, 8);
  const double without = wait_cycles(memory, core_of(abi::Isa::kDsp), 1000, 1000);
  memory.prefetch = true;
  EXPECT_EQ(wait_cycles(memory, core_of(abi::Isa::kDsp), 1000, 1000), without);
}

engine::PartMemory named(std::string name, bool kept, double cycles_per_word) {
  engine::PartMemory memory;
  memory.name = std::move(name);
  memory.kept = kept;
  memory.cycles_per_word = cycles_per_word;
  return memory;
}

TEST(WaitCycles, WordsOfASlowMemoryWithoutStatedWaits) {
  engine::PartMemory memory = named("ocram", false, 2);
  const engine::Core core = core_of(abi::Isa::kDsp);
  EXPECT_FALSE(waits_known(memory));
  EXPECT_EQ(wait_cycles(memory, core, 100, 400), 100);
  memory.cache_bytes = 128;
  EXPECT_EQ(wait_cycles(memory, core, 100, 400), 25);
  memory.wait_states = 0;
  EXPECT_TRUE(waits_known(memory));
  EXPECT_EQ(wait_cycles(memory, core, 100, 400), 0);
  EXPECT_FALSE(waits_known(named("sram", false, 1)));
  EXPECT_FALSE(waits_known(named("flash", true, 1)));
}

/// A part of a core without measured reads of instructions, which has a time band.
struct PartWithTimes {
  engine::Core core = core_of(abi::Isa::kDsp);
  engine::Part part;
  OperandMemories memories;

  PartWithTimes() {
    core.name = "core";
    core.has_time_band = true;
    part.name = "chip";
    part.cpu = &core;
    part.memories = {named("sram", false, 0), named("flash", true, 0)};
    for (engine::PartMemory& memory : part.memories) memory.wait_states = 0;
    memories = operand_memories(part, std::nullopt, nullptr);
  }
};

TEST(MissingWaits, NoneIfAllMemoriesStateThem) {
  const PartWithTimes world;
  const MissingWaits missing = missing_waits(world.part, world.memories);
  EXPECT_TRUE(missing.memories.empty());
  EXPECT_TRUE(missing.notes.empty());
  EXPECT_EQ(missing_waits_text(missing.memories), "");
  EXPECT_TRUE(has_time_band(world.core, missing, false, 5));
  EXPECT_FALSE(has_time_band(world.core, missing, true, 0));  // of an NPU
  EXPECT_FALSE(has_time_band(world.core, missing, false, 6));
  EXPECT_FALSE(has_time_band(world.core, missing_waits(world.part, {}), false, 0));
}

TEST(MissingWaits, OfARamAlone) {
  PartWithTimes world;
  world.part.memories[0].wait_states.reset();
  const MissingWaits missing = missing_waits(world.part, world.memories);
  EXPECT_EQ(missing.memories, std::vector<std::string>{"sram"});
  EXPECT_EQ(missing.notes,
            std::vector<std::string>{"the time has no wait states of sram: the documents of chip "
                                     "do not state them"});
  EXPECT_FALSE(has_time_band(world.core, missing, false, 0));
}

TEST(MissingWaits, OfTwoMemoriesInOneSentence) {
  PartWithTimes world;
  for (engine::PartMemory& memory : world.part.memories) memory.wait_states.reset();
  const MissingWaits missing = missing_waits(world.part, world.memories);
  EXPECT_EQ(missing_waits_text(missing.memories), "wait states of flash and sram");
  ASSERT_EQ(missing.notes.size(), 1U);
  EXPECT_EQ(missing.notes[0],
            "the time has no wait states of flash and sram: the documents of chip do not state "
            "them");
}

TEST(MissingWaits, OfMemoriesThatThePartDoesNotHave) {
  PartWithTimes world;
  world.part.memories.pop_back();
  world.memories = operand_memories(world.part, std::nullopt, nullptr);
  EXPECT_EQ(missing_waits(world.part, world.memories).memories, std::vector<std::string>{"flash"});
  EXPECT_EQ(missing_waits_text(missing_waits(world.part, {}).memories),
            "wait states of flash and sram");
}

TEST(MissingWaits, OfInstructionsInAMemoryWithoutOperands) {
  PartWithTimes world;
  world.part.memories.push_back(named("rom", true, 0));
  world.memories.code = &world.part.memories.back();
  world.memories.constants = &world.part.memories[1];
  world.memories.arena = world.part.memories.data();
  const MissingWaits missing = missing_waits(world.part, world.memories);
  EXPECT_EQ(missing.memories, std::vector<std::string>{"rom"});
  ASSERT_EQ(missing.notes.size(), 1U);
  EXPECT_EQ(missing.notes[0],
            "the time has no wait states of instructions in rom: the documents of chip do not "
            "state them");
}

TEST(MissingWaits, OfKernelCodeInTheRamOfData) {
  PartWithTimes world;
  world.part.recipe.kernel_code = "sram";
  world.memories = operand_memories(world.part, std::nullopt, nullptr);
  EXPECT_EQ(world.memories.code_of_kernels(), world.part.memories.data());
  EXPECT_EQ(world.memories.code, &world.part.memories[1]);
  const MissingWaits missing = missing_waits(world.part, world.memories);
  EXPECT_EQ(missing.memories, std::vector<std::string>{"sram"});
  EXPECT_EQ(missing.notes,
            std::vector<std::string>{"the time has no wait states of instructions and data that "
                                     "use sram at the same time"});
  world.part.code_ram = named("itcm", false, 0);
  world.part.recipe.kernel_code = "itcm";
  world.memories = operand_memories(world.part, std::nullopt, nullptr);
  EXPECT_EQ(world.memories.kernel_code, &*world.part.code_ram);
  EXPECT_TRUE(missing_waits(world.part, world.memories).memories.empty());
}

TEST(OperandMemories, FollowThePlacement) {
  engine::Part part;
  part.memories = {named("dtcm", false, 1), named("ocram", false, 2), named("flash", true, 36)};
  const OperandMemories defaults = operand_memories(part, std::nullopt, nullptr);
  EXPECT_EQ(defaults.arena, part.memories.data());
  EXPECT_EQ(defaults.constants, &part.memories[2]);
  ObjectPlacement placement;
  using engine::MemoryContents;
  placement.objects = {{"arena", MemoryContents::kArena, "", 10, 10, "ocram", "", ""},
                       {"model", MemoryContents::kConstants, "", 10, 10, "dtcm", "flash", ""}};
  placement.code_memory = "flash";
  const OperandMemories placed = operand_memories(part, placement, nullptr);
  EXPECT_EQ(placed.arena, &part.memories[1]);
  EXPECT_EQ(placed.constants, part.memories.data());
  EXPECT_EQ(placed.code, &part.memories[2]);
  EXPECT_EQ(placed.all().size(), 2U);
}

}  // namespace
}  // namespace thimble::driver
