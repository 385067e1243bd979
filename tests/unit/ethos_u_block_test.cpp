// SPDX-License-Identifier: Apache-2.0
// Block configurations: a legal block fits into the internal memory, and the chosen block is the
// best of all legal ones.

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "base/rounding.h"
#include "engines/ethos_u/compiler/cost.h"
#include "ethos_u_programs.h"

namespace thimble::test {
namespace {

std::vector<OpShape> shapes() {
  std::vector<OpShape> result;
  for (const NpuOpKind kind :
       {NpuOpKind::kConv, NpuOpKind::kDepthwise, NpuOpKind::kPool, NpuOpKind::kElementwise}) {
    for (const int bits : {8, 16}) {
      for (const int64_t size : {1, 7, 30, 112}) {
        for (const int64_t channels : {1, 16, 40, 320}) {
          OpShape shape;
          shape.kind = kind;
          shape.ifm = shape.ofm = {size, size, channels};
          shape.ifm_bits = shape.ofm_bits = bits;
          shape.wide_accumulator = bits == 16 && kind != NpuOpKind::kPool;
          if (kind == NpuOpKind::kElementwise) {
            shape.binary = true, shape.ifm2 = shape.ifm;
            shape.wide_accumulator = false;
          } else if (size > 3) {
            shape.window.kernel_h = shape.window.kernel_w = 3;
          }
          result.push_back(shape);
        }
      }
    }
  }
  return result;
}

TEST(EthosUBlock, EveryShapeHasBlockOnEveryConfiguration) {
  for (const Config& config : thimble::ethos_u::kConfigs) {
    const System& system = *thimble::ethos_u::default_system(config.generation);
    for (const OpShape& shape : shapes()) {
      EXPECT_TRUE(choose_block(config, system, shape, {}).has_value()) << config.name;
    }
  }
}

TEST(EthosUBlock, BuffersFitIntoBanks) {
  for (const Config& config : thimble::ethos_u::kConfigs) {
    if (config.generation == thimble::ethos_u::Generation::kU85) continue;
    const System& system = *thimble::ethos_u::default_system(config.generation);
    for (OpShape shape : shapes()) {
      for (const bool table : {false, true}) {
        shape.table = table;
        const auto choice = choose_block(config, system, shape, {});
        ASSERT_TRUE(choice.has_value());
        const Block& block = choice->block;
        const int64_t top = config.banks - (config.banks > 16 || table ? 2 : 0);
        const int64_t ifm = 2 * (block.ifm_h * block.ifm_w * block.ifm_d * shape.ifm_bits / 8);
        const bool elementwise = shape.kind == NpuOpKind::kElementwise;
        const int64_t accumulators =
            2 * block.h * block.w * block.d * (shape.wide_accumulator ? 5 : 4);
        EXPECT_LE(block.ab_start, top);
        EXPECT_LE(2 * 1024 + ifm, (elementwise ? block.ib2_start : block.ib_end) * 1024);
        if (!elementwise) {
          EXPECT_LE(accumulators, (top - block.ab_start) * 1024);
        }
        EXPECT_LE(block.ib_end, block.ab_start);
        EXPECT_TRUE(block.d >= shape.ofm.c || block.d % 16 == 0);
        EXPECT_EQ(block.h % block.microblock.height, 0);
        EXPECT_EQ(block.w % block.microblock.width, 0);
      }
    }
  }
}

TEST(EthosUBlock, BuffersFitIntoRams) {
  for (const Config& config : thimble::ethos_u::kConfigs) {
    if (config.generation != thimble::ethos_u::Generation::kU85) continue;
    const System& system = *thimble::ethos_u::default_system(config.generation);
    for (const OpShape& shape : shapes()) {
      if (shape.kind == NpuOpKind::kElementwise) continue;
      const auto choice = choose_block(config, system, shape, {});
      ASSERT_TRUE(choice.has_value());
      const Block& block = choice->block;
      const int64_t depth = std::min(block.ifm_d, std::max<int64_t>(shape.ifm.c, 1));
      EXPECT_LE(block.ifm_h * block.ifm_w * depth * shape.ifm_bits / 8, config.ifm_ram);
      EXPECT_LE(block.h * block.w * block.d * (shape.wide_accumulator ? 8 : 4),
                config.accumulator_ram);
    }
  }
}

/// The IFM RAM of the U85 holds whole units of rows and columns (docs/ethos-u.md, "Blocks"). The
/// units depend on the depth of the block, here 16, 32 and 64 channels of 8 bits.
TEST(EthosUBlock, RamHoldsWholeUnits) {
  struct Unit {
    int64_t h, w;
  };
  struct Row {
    int32_t macs;
    bool flat;  // the microblock has one row of four columns
    Unit units[3];
  };
  constexpr Row kRows[] = {
      {128, false, {{1, 2}, {1, 1}, {1, 1}}},  {128, true, {{1, 2}, {1, 1}, {1, 1}}},
      {256, false, {{2, 2}, {1, 2}, {1, 1}}},  {256, true, {{1, 4}, {1, 2}, {1, 1}}},
      {512, false, {{2, 2}, {1, 2}, {1, 1}}},  {512, true, {{1, 4}, {1, 2}, {1, 1}}},
      {1024, false, {{2, 4}, {2, 2}, {1, 2}}}, {1024, true, {{2, 4}, {1, 4}, {1, 2}}},
      {2048, false, {{4, 4}, {2, 4}, {2, 2}}}, {2048, true, {{4, 4}, {2, 4}, {1, 4}}},
  };
  OpShape shape;
  shape.kind = NpuOpKind::kPool;
  shape.ifm = shape.ofm = {64, 64, 64};
  shape.window.kernel_h = shape.window.kernel_w = 2;
  int compared = 0;
  for (const Config& config : thimble::ethos_u::kConfigs) {
    if (config.generation != thimble::ethos_u::Generation::kU85) continue;
    for (const BlockFamily& family : block_families(config, shape)) {
      const bool flat = family.microblock.height == 1 && family.microblock.width == 4;
      const Row* const row = std::ranges::find_if(
          kRows, [&](const Row& each) { return each.macs == config.macs && each.flat == flat; });
      ASSERT_NE(row, std::end(kRows)) << config.name;
      for (const int level : {0, 1, 2}) {
        Block block;
        block.h = 4, block.w = 8, block.d = int64_t{16} << level;
        if (!fit_block(config, shape, family, &block)) continue;
        const Unit unit = row->units[level];
        EXPECT_EQ(block.ifm_h, round_up(int64_t{5}, unit.h)) << config.name << " level " << level;
        EXPECT_EQ(block.ifm_w, round_up(int64_t{9}, unit.w)) << config.name << " level " << level;
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 15);
}

TEST(EthosUBlock, ResizeHasBlockOfOneRowAndOneBrick) {
  for (const Config& config : thimble::ethos_u::kConfigs) {
    if (config.generation != thimble::ethos_u::Generation::kU85) continue;
    OpShape shape;
    shape.kind = NpuOpKind::kResize;
    shape.ifm = {8, 8, 40};
    shape.ofm = {16, 16, 40};
    shape.ifm_bits = shape.ofm_bits = 8;
    shape.resize_n = 2;
    const System& system = *thimble::ethos_u::default_system(config.generation);
    const auto choice = choose_block(config, system, shape, {});
    ASSERT_TRUE(choice.has_value()) << config.name;
    EXPECT_EQ(choice->block.h, 1);
    EXPECT_EQ(choice->block.d, 16);
    for (const auto& [h, d, fits] :
         {std::tuple(1, 16, true), std::tuple(2, 16, false), std::tuple(1, 32, false)}) {
      Block block = choice->block;
      block.h = h;
      block.d = d;
      const BlockFamily family = block_families(config, shape).front();
      EXPECT_EQ(fit_block(config, shape, family, &block), fits) << h << ' ' << d;
    }
  }
}

TEST(EthosUBlock, ChosenBlockIsBestLegalBlock) {
  const Config& config = *thimble::ethos_u::find_config("ethos-u55-64");
  const System& system = *thimble::ethos_u::default_system(config.generation);
  for (const OpShape& shape : shapes()) {
    if (shape.ofm.h > 30) continue;
    const OperandStorage storage{.weight_bytes = 1000};
    const double chosen = choose_block(config, system, shape, storage)->cost.cycles();
    for (const BlockFamily& family : block_families(config, shape)) {
      for (int64_t h = 1; h <= std::min<int64_t>(32, shape.ofm.h); ++h) {
        for (int64_t w = 1; w <= std::min<int64_t>(64, shape.ofm.w); ++w) {
          for (const int64_t d : {16, 32, 64, 128}) {
            Block block;
            block.h = h, block.w = w, block.d = d;
            if (d > (shape.ofm.c + 15) / 16 * 16) continue;
            if (!fit_block(config, shape, family, &block)) continue;
            // A size between two tried sizes needs no fewer blocks than the smaller of them.
            const double other = kernel_cost(config, system, shape, block, storage).cycles();
            EXPECT_LE(chosen, other * 1.05) << h << "x" << w << "x" << d;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace thimble::test
