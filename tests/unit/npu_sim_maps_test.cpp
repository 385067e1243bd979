// SPDX-License-Identifier: Apache-2.0
// Addresses of elements: formats, strides, tiles, transposition, reversal, upscaling; and DMA.

#include <array>
#include <cstring>

#include "npu_stream.h"

namespace thimble::ethos_u::test {
namespace {

/// 1x1 pool: copies the values to other addresses.
Stream copy(const Map& from, const Map& to, uint32_t more_precision = 1U << 8) {
  Stream s;
  s.ifm(from).ofm(to, more_precision).scale(1, 0).window(1, 1);
  return s;
}

uint32_t nop(const Config& config) {
  return static_cast<uint32_t>(config.generation == Generation::kU85 ? PoolMode::kSum
                                                                     : PoolMode::kAverage);
}

void expect_copied(const Config& config, const Map& from, const Map& to) {
  Machine machine(config);
  const Values before = machine.values(from);
  machine.expect_run_ok(copy(from, to).op(Operation::POOL, nop(config)).stop());
  EXPECT_EQ(machine.values(to), before);
}

TEST(SimMaps, FormatsAndStrides) {
  for (const Config* config : {&u55(), &u65(), &u85()}) {
    for (const uint32_t bits : {8U, 16U}) {
      const Map in{.h = 3, .w = 5, .c = 19, .bits = bits};
      Map plain = in, bricks = in, apart = in, turned = in, back = in;
      plain.base = bricks.base = apart.base = turned.base = 2048;
      back.base = 2048 + 5 * 19 * 2 * 2;
      bricks.bricks = true;
      apart.stride_x = 24 * in.elem();
      apart.stride_y = 5 * 24 * in.elem() + 16;
      turned.stride_x = 3 * 19 * in.elem();
      turned.stride_y = 19 * in.elem();
      back.stride_y = -5 * 19 * 2;
      for (const Map& to : {plain, bricks, apart, turned, back}) expect_copied(*config, in, to);
      Machine machine(*config);
      const Values before = machine.values(in);
      machine.expect_run_ok(copy(in, bricks).op(Operation::POOL, nop(*config)).stop());
      Map again = in;
      again.base = 0;
      machine.expect_run_ok(copy(bricks, again).op(Operation::POOL, nop(*config)).stop());
      EXPECT_EQ(machine.values(again), before);
    }
  }
}

TEST(SimMaps, WholeBricksAreWritten) {
  const Map in{.h = 1, .w = 2, .c = 5}, out{.h = 1, .w = 2, .c = 5, .base = 512, .bricks = true};
  Machine machine(u55());
  machine.expect_run_ok(copy(in, out).op(Operation::POOL, PoolMode::kAverage).stop());
  for (uint32_t x = 0; x < 2; ++x) {
    for (uint32_t c = 5; c < 16; ++c) EXPECT_EQ(machine.arena[512 + x * 16 + c], 0x5A);
  }
  EXPECT_EQ(machine.arena[512 + 32], static_cast<uint8_t>((512 + 32) * 37 + 11));
}

TEST(SimMaps, Tiles) {
  // Rows from 2 and columns from 3 are in other tiles; tile 1 is split after its row 1.
  const Map in{.h = 4, .w = 5, .c = 2}, out{.h = 4, .w = 5, .c = 2, .base = 2048};
  const std::array<uint64_t, 4> bases = {0, 200, 400, 600};
  Stream s = copy(in, out);
  s.set(Reg0::IFM_WIDTH0_M1, 2).set(Reg0::IFM_HEIGHT0_M1, 1).set(Reg0::IFM_HEIGHT1_M1, 0);
  s.set(Reg1::IFM_BASE1, 200).set(Reg1::IFM_BASE2, 400).set(Reg1::IFM_BASE3, 600);
  s.op(Operation::POOL, PoolMode::kAverage).stop();
  Machine machine(u55());
  const std::vector<uint8_t> before = machine.arena;
  machine.expect_run_ok(s);
  for (uint32_t y = 0; y < 4; ++y) {
    for (uint32_t x = 0; x < 5; ++x) {
      const bool right = x >= 3;
      const uint32_t split = right ? 1 : 2;
      const uint32_t tile = (right ? 1U : 0U) + (y >= split ? 2U : 0U);
      const uint32_t row = y >= split ? y - split : y;
      const uint64_t from = bases[tile] + row * 10 + (right ? x - 3 : x) * 2;
      EXPECT_EQ(machine.arena[out.at(y, x, 1)], before[from + 1]) << y << "," << x;
    }
  }
}

TEST(SimMaps, OutputTiles) {
  const Map in{.h = 4, .w = 3, .c = 2, .base = 2048}, out{.h = 4, .w = 3, .c = 2};
  Stream s = copy(in, out);
  s.set(Reg0::OFM_HEIGHT0_M1, 2).set(Reg1::OFM_BASE2, 512);
  s.op(Operation::POOL, PoolMode::kAverage).stop();
  Machine machine(u55());
  const Values values = machine.values(in);
  machine.expect_run_ok(s);
  EXPECT_EQ(machine.get(out, 2, 2, 1), values[17]);
  EXPECT_EQ(machine.arena[512], static_cast<uint8_t>(values[18]));
}

TEST(SimMaps, TranspositionOfTheOutput) {
  struct Order {
    uint32_t code;
    std::array<int, 3> axes;  // axes of the operation, outermost first
  };
  const std::array<Order, 6> orders = {{{0, {0, 1, 2}},
                                        {1, {1, 0, 2}},
                                        {2, {0, 2, 1}},
                                        {3, {1, 2, 0}},
                                        {6, {2, 0, 1}},
                                        {7, {2, 1, 0}}}};
  const Map in{.h = 2, .w = 3, .c = 4};
  const std::array<uint32_t, 3> sizes = {2, 3, 4};
  for (const bool bricks : {false, true}) {
    for (const Order& order : orders) {
      const auto size = [&](size_t i) { return sizes[static_cast<size_t>(order.axes[i])]; };
      const Map out{.h = size(0), .w = size(1), .c = size(2), .base = 1024, .bricks = bricks};
      Stream s = copy(in, out, 1U << 8 | order.code << 11);
      s.ofm_size(2, 3, 4).op(Operation::POOL, PoolMode::kSum).stop();
      Machine machine(u85());
      const Values before = machine.values(in);
      machine.expect_run_ok(s);
      for (uint32_t i = 0; i < 24; ++i) {
        const std::array<uint32_t, 3> at = {i / 12, i / 4 % 3, i % 4};
        const auto axis = [&](size_t k) { return at[static_cast<size_t>(order.axes[k])]; };
        EXPECT_EQ(machine.get(out, axis(0), axis(1), axis(2)), before[i])
            << "transposition " << order.code << " element " << i;
      }
    }
  }
}

TEST(SimMaps, ReversalOfTheOutput) {
  const Map in{.h = 2, .w = 3, .c = 4}, out{.h = 2, .w = 3, .c = 4, .base = 1024};
  for (uint32_t axis = 1; axis <= 3; ++axis) {
    Machine machine(u85());
    const Values before = machine.values(in);
    machine.expect_run_ok(
        copy(in, out, 1U << 8 | axis << 9).op(Operation::POOL, PoolMode::kSum).stop());
    for (uint32_t i = 0; i < 24; ++i) {
      const uint32_t y = axis == 1 ? 1 - i / 12 : i / 12;
      const uint32_t x = axis == 2 ? 2 - i / 4 % 3 : i / 4 % 3;
      const uint32_t c = axis == 3 ? 3 - i % 4 : i % 4;
      EXPECT_EQ(machine.get(out, y, x, c), before[i]) << "axis " << axis;
    }
  }
}

TEST(SimMaps, Upscaling) {
  const Map in{.h = 2, .w = 3, .c = 2, .zero = 3};
  const Map out{.h = 4, .w = 6, .c = 2, .base = 1024, .zero = 3};
  for (const uint32_t mode : {1U, 2U}) {
    Machine machine(u55());
    const Values before = machine.values(in);
    Stream s = copy(in, out);
    machine.expect_run_ok(
        s.set(Reg0::IFM_UPSCALE, mode).op(Operation::POOL, PoolMode::kAverage).stop());
    for (uint32_t y = 0; y < 4; ++y) {
      for (uint32_t x = 0; x < 6; ++x) {
        const bool zero = mode == 2 && (y % 2 != 0 || x % 2 != 0);
        EXPECT_EQ(machine.get(out, y, x, 1), zero ? 3 : before[(y / 2 * 3 + x / 2) * 2 + 1]);
      }
    }
  }
}

Stream dma(uint32_t source_mode, uint32_t destination_mode, int64_t length) {
  Stream s;
  s.set(Reg0::DMA0_SRC_REGION, 1 | source_mode).set(Reg0::DMA0_DST_REGION, 1 | destination_mode);
  s.set(Reg1::DMA0_SRC, 0).set(Reg1::DMA0_DST, 2048).set(Reg1::DMA0_LEN, length);
  return s;
}

TEST(SimDma, OneDimension) {
  Machine machine(u55());
  const std::vector<uint8_t> before = machine.arena;
  machine.expect_run_ok(dma(0, 0, 304).op(Operation::DMA_START).stop());
  EXPECT_EQ(std::memcmp(&machine.arena[2048], before.data(), 304), 0);
  EXPECT_EQ(machine.arena[2048 + 304], before[2048 + 304]);
}

TEST(SimDma, RowsAndPlanesWithSkips) {
  Stream s = dma(0, 2U << 9, 5);
  s.set(Reg0::DMA0_SIZE0, 3).set(Reg0::DMA0_SIZE1, 2);
  s.set(Reg1::DMA0_SKIP0, 2).set(Reg1::DMA0_SKIP1, 35);
  Machine machine(u65());
  const std::vector<uint8_t> before = machine.arena;
  machine.expect_run_ok(s.op(Operation::DMA_START).stop());
  for (uint32_t plane = 0; plane < 2; ++plane) {
    for (uint32_t row = 0; row < 3; ++row) {
      for (uint32_t i = 0; i < 5; ++i) {
        EXPECT_EQ(machine.arena[2048 + plane * 50 + row * 7 + i],
                  before[(plane * 3 + row) * 5 + i]);
      }
    }
  }
}

TEST(SimDma, StridesOfBothSides) {
  Stream s = dma(2U << 9, 0, 4);
  s.set(Reg0::DMA0_SIZE0, 3).set(Reg0::DMA0_SIZE1, 2);
  s.set(Reg1::DMA0_SRC, 900).set(Reg1::DMA0_SRC_STRIDE0, -20).set(Reg1::DMA0_SRC_STRIDE1, -200);
  s.set(Reg1::DMA0_DST_STRIDE0, 9).set(Reg1::DMA0_DST_STRIDE1, 64);
  Machine machine(u85());
  const std::vector<uint8_t> before = machine.arena;
  machine.expect_run_ok(s.op(Operation::DMA_START).stop());
  for (uint32_t plane = 0; plane < 2; ++plane) {
    for (uint32_t row = 0; row < 3; ++row) {
      EXPECT_EQ(std::memcmp(&machine.arena[2048 + plane * 64 + row * 9],
                            &before[900 - plane * 200 - row * 20], 4),
                0);
    }
  }
}

TEST(SimDma, GatherAndScatter) {
  const std::array<uint32_t, 4> indices = {3, 0, 2, 3};
  for (const bool scatter : {false, true}) {
    Stream s = dma(scatter ? 1U << 9 : 1U << 9 | 1U << 11, scatter ? 1U << 11 : 0, 6);
    s.set(Reg0::DMA0_SIZE0, 4).set(Reg1::DMA0_SRC_STRIDE0, 6).set(Reg1::DMA0_DST_STRIDE0, 8);
    s.set(Reg0::DMA0_IDX_REGION, 1).set(Reg1::DMA0_IDX, 1024).set(Reg1::DMA0_IDX_MAX, 3);
    s.op(Operation::DMA_START).stop();
    Machine machine(u85());
    std::memcpy(&machine.arena[1024], indices.data(), 16);
    const std::vector<uint8_t> before = machine.arena;
    machine.expect_run_ok(s);
    for (uint32_t row = 0; row < 4; ++row) {
      if (scatter && row == 0) continue;  // row 3 has the same index
      const uint32_t from = scatter ? row : indices[row];
      const uint32_t to = scatter ? indices[row] : row;
      EXPECT_EQ(std::memcmp(&machine.arena[2048 + to * 8], &before[from * 6], 6), 0);
    }
    machine.arena[1024] = 4;  // one more than the largest index
    const sim::Fault fault = machine.run(s);
    EXPECT_EQ(static_cast<int>(fault.kind), static_cast<int>(sim::FaultKind::kOutOfRange));
    EXPECT_EQ(fault.address, 1024U);
  }
}

}  // namespace
}  // namespace thimble::ethos_u::test
