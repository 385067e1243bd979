// SPDX-License-Identifier: Apache-2.0
// POOL, RESIZE, tables, chains and branches, compared with bytes computed from the definitions.

#include <algorithm>
#include <array>
#include <cstring>

#include "npu_stream.h"

namespace thimble::ethos_u::test {
namespace {

Stream base(const Map& from, const Map& to) {
  Stream s;
  s.ifm(from).ofm(to).scale(1, 0).window(1, 1);
  return s;
}

int64_t divide(int64_t sum, int64_t n) {  // half away from zero
  return (sum < 0 ? -1 : 1) * ((std::abs(sum) * 2 + n) / (2 * n));
}

TEST(SimPool, WindowsWithPadding) {
  const Map in{.h = 4, .w = 5, .c = 3, .zero = 5};
  const Map out{.h = 3, .w = 3, .c = 3, .bits = 16, .base = 1024, .zero = -7};
  struct Row {
    const Config* config;
    PoolMode mode;
  };
  const std::array<Row, 6> rows = {{{&u55(), PoolMode::kMax},
                                    {&u55(), PoolMode::kAverage},
                                    {&u85(), PoolMode::kMax},
                                    {&u85(), PoolMode::kMin},
                                    {&u85(), PoolMode::kAverage},
                                    {&u85(), PoolMode::kSum}}};
  for (const Row& row : rows) {
    Machine machine(*row.config);
    const Values values = machine.values(in);
    Stream s = base(in, out);
    s.window(3, 3, 1U << 1 | 1U).pads(1, 1, 2, 1);  // stride 2
    machine.expect_run_ok(s.op(Operation::POOL, row.mode).stop());
    for (int y = 0; y < 3; ++y) {
      for (int x = 0; x < 3; ++x) {
        int64_t most = INT64_MIN, least = INT64_MAX, sum = 0, count = 0;
        for (int from_y = std::max(0, 2 * y - 1); from_y < std::min(4, 2 * y + 2); ++from_y) {
          for (int from_x = std::max(0, 2 * x - 1); from_x < std::min(5, 2 * x + 2); ++from_x) {
            const int64_t v = values[static_cast<size_t>((from_y * 5 + from_x) * 3 + 2)] - 5;
            most = std::max(most, v), least = std::min(least, v), sum += v, ++count;
          }
        }
        const int64_t want = row.mode == PoolMode::kMax   ? most
                             : row.mode == PoolMode::kMin ? least
                             : row.mode == PoolMode::kSum ? sum
                                                          : divide(sum, count);
        EXPECT_EQ(machine.get(out, static_cast<uint32_t>(y), static_cast<uint32_t>(x), 2), want - 7)
            << row.config->name << " mode " << static_cast<int>(row.mode);
      }
    }
  }
}

TEST(SimPool, AverageWithoutPaddingIsScaledNotDivided) {
  const Map in{.h = 2, .w = 2, .c = 1}, out{.h = 1, .w = 1, .c = 1, .base = 64};
  Machine machine(u55());
  machine.fill(in, {1, 2, 3, 5});
  // The compiler's scale for 1/4: the multiplier is slightly above 2^30.
  Stream s = base(in, out);
  s.set(Reg0::OFM_PRECISION, 1 | 1U << 8 | 2U << 14).scale(0x40000001, 32).window(2, 2);
  machine.expect_run_ok(s.op(Operation::POOL, PoolMode::kAverage).stop());
  EXPECT_EQ(machine.get(out, 0, 0, 0), 3);  // 11 / 4
}

TEST(SimPool, SumOverTheDepth) {
  const Map in{.h = 2, .w = 3, .c = 70, .bits = 16, .zero = 9};
  const Map out{.h = 2, .w = 3, .c = 1, .bits = 32, .base = 2048};
  for (const Config* config : {&u55(), &u85()}) {
    Machine machine(*config);
    const Values values = machine.values(in);
    Stream s = base(in, out);
    if (config->generation == Generation::kU85) s.set(Reg0::ACTIVATION, 1U << 12);  // no clamp
    machine.expect_run_ok(s.op(Operation::POOL, PoolMode::kReduceSum).stop());
    for (uint32_t i = 0; i < 6; ++i) {
      int64_t sum = 0;
      for (uint32_t c = 0; c < 70; ++c) sum += values[i * 70 + c] - 9;
      EXPECT_EQ(machine.get(out, i / 3, i % 3, 0), sum);
    }
  }
}

TEST(SimPool, NoneGivesTheAccumulatorsOfIfm2) {
  const Map in{.h = 2, .w = 2, .c = 4};
  const Map wide{.h = 2, .w = 2, .c = 4, .bits = 64, .base = 256};
  const Map out{.h = 2, .w = 2, .c = 4, .bits = 32, .base = 1024};
  Machine machine(u85());
  Values values;
  for (int64_t i = 0; i < 16; ++i) values.push_back((i - 8) * 0x300000000 + i);
  machine.fill(wide, values);
  Stream s = base(in, out);
  s.ifm2(wide).set(Reg0::ACC_FORMAT, 1 | 2U << 4).set(Reg0::ACTIVATION, 1U << 12);
  s.scale(1U << 10, 20, static_cast<uint32_t>(Round85::kTruncateToLower) << 13);
  machine.expect_run_ok(s.op(Operation::POOL, PoolMode::kNone).stop());
  for (uint32_t i = 0; i < 16; ++i) {
    EXPECT_EQ(machine.get(out, i / 8, i / 4 % 2, i % 4), values[i] >> 10);
  }
}

TEST(SimPool, KeptAccumulatorsContinue) {
  const Map in{.h = 2, .w = 2, .c = 8}, more{.h = 2, .w = 2, .c = 8, .base = 64};
  const Map out{.h = 2, .w = 2, .c = 8, .bits = 16, .base = 1024};
  Machine machine(u85());
  const Values a = machine.values(in), b = machine.values(more);
  Stream s = base(in, out);
  s.set(Reg0::ACC_FORMAT, 1U << 6).op(Operation::POOL, PoolMode::kSum);
  s.ifm(more).set(Reg0::ACC_FORMAT, 1U << 4).op(Operation::POOL, PoolMode::kSum).stop();
  machine.expect_run_ok(s);
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(machine.get(out, i / 16, i / 8 % 2, i % 8), a[i] + b[i]);
  }
}

TEST(SimPool, ArgmaxReturnsPosition) {
  const Map in{.h = 3, .w = 7, .c = 5};
  for (const PoolMode mode : {PoolMode::kArgmaxX, PoolMode::kArgmaxY}) {
    const bool along_x = mode == PoolMode::kArgmaxX;
    const Map out{.h = along_x ? 3U : 1U, .w = along_x ? 1U : 7U, .c = 5, .bits = 32, .base = 512};
    Machine machine(u85());
    for (size_t i = 0; i < 128; ++i) machine.arena[i] = static_cast<uint8_t>(i * 7 % 13);
    const Values values = machine.values(in);
    Stream s = base(in, out);
    s.window(along_x ? 1 : 3, along_x ? 7 : 1).scale(1, 16, 5U << 13);
    s.set(Reg0::ACTIVATION, 1U << 12);
    machine.expect_run_ok(s.op(Operation::POOL, mode).stop());
    for (uint32_t o = 0; o < (along_x ? 3U : 7U); ++o) {
      for (uint32_t c = 0; c < 5; ++c) {
        uint32_t best = 0;
        const auto at = [&](uint32_t k) {
          return values[((along_x ? o : k) * 7 + (along_x ? k : o)) * 5 + c];
        };
        for (uint32_t k = 1; k < (along_x ? 7U : 3U); ++k) best = at(k) > at(best) ? k : best;
        EXPECT_EQ(machine.get(out, along_x ? o : 0, along_x ? 0 : o, c), best);
      }
    }
  }
}

/// Resize with source positions (5 x - 1) / 8 and (5 y + 1) / 4.
Stream resize_stream(const Map& in, const Map& out, uint32_t shift) {
  Stream s;
  s.ifm(in).ofm(out).scale(1, 16 + shift, 3U << 13);
  s.set(Reg0::KERNEL_HEIGHT_M1, in.h - 1).set(Reg0::KERNEL_WIDTH_M1, in.w - 1);
  s.set(Reg0::RESIZE_X_SCALE_N_M1, 7).set(Reg0::RESIZE_Y_SCALE_N_M1, 3);
  s.set(Reg0::RESIZE_X_OFFSET, static_cast<uint32_t>(-1) & 0xFFF).set(Reg0::RESIZE_Y_OFFSET, 1);
  s.pair(Reg1::RESIZE_X, 0, 5).pair(Reg1::RESIZE_Y, 1, 1);  // d = 5 of 8, d = 5 of 4
  return s;
}

int64_t floor_div(int64_t a, int64_t b) {
  return (a - ((a % b) + b) % b) / b;
}

TEST(SimResize, Positions) {
  const Map in{.h = 4, .w = 3, .c = 2}, out{.h = 3, .w = 5, .c = 2, .base = 512};
  for (uint32_t mode = 0; mode < 3; ++mode) {
    Machine machine(u85());
    const Values values = machine.values(in);
    machine.expect_run_ok(
        resize_stream(in, out, mode == 0 ? 5 : 0).op(Operation::RESIZE, mode).stop());
    const auto at = [&](int64_t y, int64_t x) {
      y = std::clamp<int64_t>(y, 0, 3), x = std::clamp<int64_t>(x, 0, 2);
      return values[static_cast<size_t>((y * 3 + x) * 2 + 1)];
    };
    for (int64_t y = 0; y < 3; ++y) {
      for (int64_t x = 0; x < 5; ++x) {
        const int64_t py = y * 5 + 1, px = x * 5 - 1;
        const int64_t iy = floor_div(py, 4), ix = floor_div(px, 8);
        const int64_t fy = py - iy * 4, fx = px - ix * 8;
        int64_t want = at(iy, ix);
        if (mode == 0) {
          want = divide(at(iy, ix) * (4 - fy) * (8 - fx) + at(iy, ix + 1) * (4 - fy) * fx +
                            at(iy + 1, ix) * fy * (8 - fx) + at(iy + 1, ix + 1) * fy * fx,
                        32);
        } else if (mode == 2) {
          want = at(fy >= 2 ? iy + 1 : iy, fx >= 4 ? ix + 1 : ix);
        }
        EXPECT_EQ(machine.get(out, static_cast<uint32_t>(y), static_cast<uint32_t>(x), 1), want)
            << "mode " << mode << " at " << y << "," << x;
      }
    }
  }
}

Stream load_table(const Config& config, uint32_t slot, uint32_t bytes) {
  const uint32_t at = config.generation == Generation::kU85 ? 0 : (config.banks - 2U) * 1024U;
  Stream s;
  s.set(Reg0::DMA0_SRC_REGION, 0).set(Reg0::DMA0_DST_REGION, 0x100);
  s.set(Reg1::DMA0_SRC, 0).set(Reg1::DMA0_DST, at + slot).set(Reg1::DMA0_LEN, bytes);
  return s.op(Operation::DMA_START);
}

Stream append(Stream first, const Stream& second) {
  first.words.insert(first.words.end(), second.words.begin(), second.words.end());
  return first;
}

TEST(SimTables, EightBits) {
  const Map in{.h = 2, .w = 4, .c = 8}, out{.h = 2, .w = 4, .c = 8, .base = 512};
  const Map wide{.h = 2, .w = 4, .c = 8, .bits = 32, .base = 1024};
  for (const Config* config : {&u55(), &u65(), &u85()}) {
    const bool has_codes = config->generation == Generation::kU85;
    Machine machine(*config);
    for (size_t i = 0; i < 2048; ++i) machine.constants[i] = static_cast<uint8_t>(i * 11 + i / 256);
    const Values values = machine.values(in);
    Stream s = append(load_table(*config, 0, 2048), base(in, out));
    s.set(Reg0::ACTIVATION, has_codes ? 4 | 3U << 5 : 16 + 3);  // table 3 of 256 bytes
    s.op(Operation::POOL, has_codes ? PoolMode::kSum : PoolMode::kAverage);
    s.ofm(wide).set(Reg0::ACTIVATION, has_codes ? 7 | 1U << 5 : (16 + 4) | 3U << 12);
    s.set(Reg0::ACTIVATION_MIN, static_cast<uint32_t>(-128) & 0xFFFF)
        .set(Reg0::ACTIVATION_MAX, 127);
    machine.expect_run_ok(
        s.op(Operation::POOL, has_codes ? PoolMode::kSum : PoolMode::kAverage).stop());
    for (uint32_t i = 0; i < 64; ++i) {
      const auto index = static_cast<size_t>(values[i] + 128);
      const auto entry = static_cast<int8_t>(machine.constants[768 + index]);
      EXPECT_EQ(machine.get(out, i / 32, i / 8 % 4, i % 8), entry);
      int32_t word;
      std::memcpy(&word, &machine.constants[1024 + 4 * index], 4);
      EXPECT_EQ(machine.get(wide, i / 32, i / 8 % 4, i % 8), word);
    }
  }
}

TEST(SimTables, SlopesOfSixteenBits) {
  const Map in{.h = 1, .w = 8, .c = 16, .bits = 16},
      out{.h = 1, .w = 8, .c = 16, .bits = 16, .base = 512};
  const Map wide{.h = 1, .w = 8, .c = 16, .bits = 32, .base = 1024};
  for (const Config* config : {&u55(), &u85()}) {
    const bool has_codes = config->generation == Generation::kU85;
    Machine machine(*config);
    for (int i = 0; i < 512; ++i) {
      const auto entry = std::array<int16_t, 2>{static_cast<int16_t>(i * 100 - 25600),
                                                static_cast<int16_t>(i * 3 - 700)};
      std::memcpy(&machine.constants[static_cast<size_t>(i) * 4], entry.data(), 4);
    }
    const Values values = machine.values(in);
    Stream s = append(load_table(*config, 0, 2048), base(in, out));
    s.set(Reg0::ACTIVATION, has_codes ? 8 : 16);
    s.op(Operation::POOL, has_codes ? PoolMode::kSum : PoolMode::kAverage);
    if (has_codes) {
      s.ofm(wide).set(Reg0::ACTIVATION, 9 | 1U << 12).op(Operation::POOL, PoolMode::kSum);
    }
    machine.expect_run_ok(s.stop());
    for (uint32_t i = 0; i < 128; ++i) {
      const int64_t index = floor_div(values[i], 128) + 256, rest = values[i] - (index - 256) * 128;
      const int64_t first = index * 100 - 25600, slope = index * 3 - 700;
      EXPECT_EQ(machine.get(out, 0, i / 16, i % 16),
                static_cast<int16_t>(first + floor_div(slope * rest + 64, 128)));
      if (!has_codes) continue;
      EXPECT_EQ(machine.get(wide, 0, i / 16, i % 16), first * 128 + slope * rest);
    }
  }
}

TEST(SimTables, TablesAreLostWithSixteenBanks) {
  const Map in{.h = 2, .w = 2, .c = 8}, out{.h = 2, .w = 2, .c = 8, .base = 512};
  for (const char* name : {"ethos-u55-64", "ethos-u55-128"}) {
    Machine machine(config(name));
    Stream s = append(load_table(*machine.config, 0, 256), base(in, out));
    s.op(Operation::POOL, PoolMode::kAverage);
    s.set(Reg0::ACTIVATION, 16).op(Operation::POOL, PoolMode::kAverage).stop();
    const bool lost = machine.config->banks == 16;
    EXPECT_EQ(machine.run(s).none(), !lost) << name;
  }
}

TEST(SimChains, ChainingSlotsPassValuesToNextKernel) {
  const Map in{.h = 2, .w = 3, .c = 20, .zero = 2}, other{.h = 2, .w = 3, .c = 20, .base = 256};
  const Map out{.h = 2, .w = 3, .c = 20, .bits = 16, .base = 1024};
  Map slot{.h = 2, .w = 3, .c = 20, .bits = 16};
  slot.storage = 2;
  slot.region = 3;
  Machine machine(u85());
  const Values a = machine.values(in), b = machine.values(other);
  Stream s = base(in, slot);
  s.op(Operation::POOL, PoolMode::kSum);
  Map second = other;
  Map as_16 = slot;
  s.ifm(as_16).ofm(out).pair(Reg1::IFM_SCALE, 0, 1).pair(Reg1::IFM2_SCALE, 0, 1);
  s.ifm2(second).op(Operation::ELEMENTWISE, ElementwiseMode::kSub).stop();
  machine.expect_run_ok(s);
  for (uint32_t i = 0; i < 120; ++i) {
    EXPECT_EQ(machine.get(out, i / 60, i / 20 % 3, i % 20), a[i] - 2 - b[i]);
  }
}

TEST(SimBranches, LastElementSelectsBranch) {
  const Map in{.h = 1, .w = 1, .c = 1}, flag{.h = 1, .w = 1, .c = 1, .base = 16};
  const Map out{.h = 1, .w = 1, .c = 1, .base = 32};
  for (const int64_t value : {0, 7}) {
    Stream s = base(in, flag);
    s.op(Operation::POOL, PoolMode::kSum);
    Stream skipped;
    skipped.ofm(out).set(Reg0::OFM_ZERO_POINT, 50).op(Operation::POOL, PoolMode::kSum);
    const auto target = static_cast<uint32_t>(s.words.size() + 2 + skipped.words.size());
    s.words.push_back(word1(0x100, 1));
    s.words.push_back(target * 4);
    s = append(s, skipped).stop();
    Machine machine(u85());
    machine.fill(in, {value});
    machine.arena[32] = 1;
    machine.expect_run_ok(s);
    EXPECT_EQ(machine.arena[32], value == 0 ? 50 : 1);
  }
}

}  // namespace
}  // namespace thimble::ethos_u::test
