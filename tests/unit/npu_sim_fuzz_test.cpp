// SPDX-License-Identifier: Apache-2.0
// Mutations of streams, weights and tables: the run returns a status, and no byte outside the
// regions and the workspace is accessed (checked by the guards of npu_stream.h and by sanitizers).

#include <array>
#include <random>
#include <string>

#include "npu_stream.h"

namespace thimble::ethos_u::test {
namespace {

void append_conv(Stream& s, const Config& config) {
  const Map in{.h = 5, .w = 5, .c = 16}, out{.h = 5, .w = 5, .c = 24, .base = 1024, .bricks = true};
  s.ifm(in).ofm(out, 0).window(3, 3).pads(1, 1, 1, 1).set(Reg0::OFM_BLK_DEPTH_M1, 15);
  s.set(Reg1::SCALE_BASE, 0).set(Reg1::SCALE_LENGTH, 240);
  s.set(Reg1::WEIGHT_BASE, 256).set(Reg1::WEIGHT_LENGTH, 3584);
  if (config.generation == Generation::kU85) s.set(Reg0::WEIGHT_FORMAT, 1);  // fixed-width format
  s.op(Operation::CONV).op(Operation::KERNEL_WAIT);
  s.set(Reg0::WEIGHT_FORMAT, 0);
  if (config.generation != Generation::kU85) s.words.pop_back();
  s.set(Reg0::OFM_DEPTH_M1, 15).op(Operation::DEPTHWISE);
}

void append_others(Stream& s, const Config& config) {
  const bool new_one = config.generation == Generation::kU85;
  const Map in{.h = 4, .w = 5, .c = 6}, more{.h = 4, .w = 5, .c = 6, .base = 512};
  Map out{.h = 4, .w = 5, .c = 6, .base = 1024};
  s.set(Reg0::DMA0_DST_REGION, 0x100).set(Reg1::DMA0_LEN, 2048);
  s.set(Reg1::DMA0_DST, new_one ? 0 : (config.banks - 2) * 1024).op(Operation::DMA_START);
  s.op(Operation::DMA_WAIT);
  s.ifm(in).ifm2(more).ofm(out).scale(1 << 30, 31).window(1, 1).pads(0, 0, 0, 0);
  s.set(Reg0::ACTIVATION, new_one ? 4 : 16).op(Operation::POOL, new_one ? 3 : 1);
  s.op(Operation::ELEMENTWISE, ElementwiseMode::kAdd).op(Operation::ELEMENTWISE, 4);
  s.set(Reg0::DMA0_DST_REGION, 1).set(Reg1::DMA0_LEN, 64).set(Reg1::DMA0_DST, 2048);
  s.op(Operation::DMA_START).ofm(Map{.h = 2, .w = 3, .c = 6, .bits = 16, .base = 1024});
  s.window(3, 3, 1).op(Operation::POOL, PoolMode::kMax);
  if (!new_one) return;
  out.storage = 2;
  s.ofm(out).window(1, 1).op(Operation::POOL, PoolMode::kSum);
  Map chained = in;
  chained.storage = 2;
  s.ifm(chained).ofm(more).op(Operation::ELEMENTWISE, ElementwiseMode::kMul);
  s.ifm(in).ifm2(Map{.h = 1, .w = 6, .c = 6, .base = 512}).op(Operation::CONV, 1);
  s.set(Reg0::KERNEL_WIDTH_M1, 4).set(Reg0::KERNEL_HEIGHT_M1, 3);
  s.pair(Reg1::RESIZE_X, 1, 0).pair(Reg1::RESIZE_Y, 1, 0).op(Operation::RESIZE, 0);
  s.set(Reg0::DMA0_SRC_REGION, 1U << 9 | 1U << 11).set(Reg0::DMA0_SIZE0, 3);
  s.set(Reg0::DMA0_SIZE1, 2).set(Reg1::DMA0_IDX_MAX, 0x7FFFFFFF).op(Operation::DMA_START);
  s.words.push_back(word1(0x100, 1));
  s.words.push_back(static_cast<uint32_t>(s.words.size() + 1) * 4);
}

void mutate(std::mt19937& random, Stream& stream, std::vector<uint8_t>& constants) {
  const auto below = [&](size_t n) { return static_cast<size_t>(random()) % n; };
  for (size_t i = 0; i < 1 + below(3); ++i) {
    uint32_t& word = stream.words[below(stream.words.size())];
    switch (below(4)) {
      case 0:
        word ^= 1U << below(32);
        break;
      case 1:
        word = (word & 0xFFFF) | static_cast<uint32_t>(below(65536)) << 16;
        break;
      case 2:
        word = static_cast<uint32_t>(random());
        break;
      default:
        constants[below(constants.size())] ^= static_cast<uint8_t>(1U << below(8));
        break;
    }
  }
  if (below(20) == 0) stream.words.resize(below(stream.words.size()));
}

TEST(SimFuzz, MutationsEndWithAStatus) {
  std::array<int, 10> kinds = {};
  for (const Config* config : {&u55(), &u65(), &u85()}) {
    Stream whole;
    append_conv(whole, *config);
    append_others(whole, *config);
    whole.stop();
    Stream others;
    append_others(others, *config);
    others.stop();
    Machine untouched(*config);
    const sim::Fault fault = untouched.run(others);
    ASSERT_TRUE(fault.none()) << config->name << " word " << fault.word << ": " << fault.detail;
    std::mt19937 random(2026);
    for (int i = 0; i < 4000; ++i) {
      Machine machine(*config);
      machine.workspace_limit = 1 << 16;
      machine.max_cost = 1 << 18;
      machine.slow = i % 2 == 0;
      for (uint8_t& byte : machine.constants) byte = static_cast<uint8_t>(random());
      Stream stream = i % 3 == 0 ? whole : others;
      mutate(random, stream, machine.constants);
      const sim::Fault status = machine.run(stream);
      ++kinds[static_cast<size_t>(status.kind)];
      EXPECT_FALSE(std::string(status.detail).empty() && !status.none());
      ASSERT_LE(status.word, stream.words.size()) << "iteration " << i;
    }
  }
  // The mutations cause every fault kind except hazards, which this test does not check.
  for (size_t kind = 0; kind < 9; ++kind) EXPECT_GT(kinds[kind], 0) << "fault kind " << kind;
}

}  // namespace
}  // namespace thimble::ethos_u::test
