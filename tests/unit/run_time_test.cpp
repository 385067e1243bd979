// Wait states of constants (docs/cycles.md, "Wait states"): counted by hand for small constants.

#include "driver/run_time.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace thimble::driver
