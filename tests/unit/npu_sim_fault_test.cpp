// SPDX-License-Identifier: Apache-2.0
// A faulty stream gives its word, the fault kind and one sentence. Nothing outside the regions is
// accessed (the machine of npu_stream.h checks the bytes around them).

#include <string>

#include "engines/ethos_u/sim/decode.h"
#include "npu_stream.h"

namespace thimble::ethos_u::test {
namespace {

using sim::FaultKind;

/// Copies a feature map by a 1x1 pool, the smallest kernel.
Stream copy(const Map& from, const Map& to) {
  Stream s;
  s.ifm(from).ofm(to).scale(1, 0).window(1, 1);
  return s;
}

struct Case {
  const char* name;
  const Config* config;
  Stream stream;
  FaultKind kind;
  int64_t word = -1;  // index from the end: -1 is the last word
};

void expect_fault(const Case& c) {
  Machine machine(*c.config);
  const sim::Fault fault = machine.run(c.stream);
  EXPECT_EQ(static_cast<int>(fault.kind), static_cast<int>(c.kind))
      << c.name << ": " << fault.detail;
  const auto expected = static_cast<uint32_t>(static_cast<int64_t>(c.stream.words.size()) + c.word);
  EXPECT_EQ(fault.word, expected) << c.name;
  EXPECT_GT(std::string(fault.detail).size(), 8U) << c.name;
}

Stream raw(std::vector<uint32_t> words) {
  Stream s;
  s.words = std::move(words);
  return s;
}

TEST(SimFault, UnknownCommands) {
  expect_fault({"no such code", &u55(), raw({word0(0x3F, 0)}), FaultKind::kUnknownCommand});
  expect_fault({"only the U85 resizes", &u55(), raw({word0(0x07, 0)}), FaultKind::kUnknownCommand});
  expect_fault(
      {"only the U65 has cores", &u55(), raw({word0(0x123, 0)}), FaultKind::kUnknownCommand});
  expect_fault({"the U85 lost IB_END", &u85(), raw({word0(0x10D, 4)}), FaultKind::kUnknownCommand});
  expect_fault({"reserved bits", &u55(), raw({0x00000400U | 0x104}), FaultKind::kUnknownCommand});
  expect_fault({"control 2", &u55(), raw({0x00008000U | 0x104}), FaultKind::kUnknownCommand});
  expect_fault(
      {"a bit that no field has", &u55(), raw({word0(0x105, 2)}), FaultKind::kUnknownCommand});
  expect_fault({"pad of 8 bits", &u55(), raw({word0(0x100, 128)}), FaultKind::kUnknownCommand});
  expect_fault(
      {"address of 41 bits", &u55(), raw({word1(0x00, 0x100), 0}), FaultKind::kUnknownCommand, -2});
}

TEST(SimFault, TruncatedStreams) {
  expect_fault({"inside a command", &u55(), raw({word1(0x00, 0)}), FaultKind::kTruncated});
  expect_fault({"without STOP", &u55(), raw({word0(0x104, 3)}), FaultKind::kTruncated, 0});
  expect_fault({"empty", &u55(), raw({}), FaultKind::kTruncated, 0});
}

TEST(SimFault, AccessesOutsideRegions) {
  const Map in{.h = 4, .w = 4, .c = 8}, out{.h = 4, .w = 4, .c = 8, .base = 1024};
  Map far = in, behind = out, nowhere = out, constant = out;
  far.base = 4096 - 64;
  behind.base = 4096 - 120;
  nowhere.region = 5;
  constant.region = 0;
  Map below = out;
  below.base = 8;
  below.stride_y = -32;
  const auto pool = static_cast<uint32_t>(PoolMode::kAverage);
  expect_fault({"read", &u55(), copy(far, out).op(Operation::POOL, pool).stop(),
                FaultKind::kOutOfRange, -2});
  expect_fault({"write", &u55(), copy(in, behind).op(Operation::POOL, pool).stop(),
                FaultKind::kOutOfRange, -2});
  expect_fault({"a region that is not there", &u55(),
                copy(in, nowhere).op(Operation::POOL, pool).stop(), FaultKind::kOutOfRange, -2});
  expect_fault({"constants", &u55(), copy(in, constant).op(Operation::POOL, pool).stop(),
                FaultKind::kOutOfRange, -2});
  expect_fault({"below zero", &u55(), copy(in, below).op(Operation::POOL, pool).stop(),
                FaultKind::kOutOfRange, -2});
  Stream dma;
  dma.set(Reg0::DMA0_DST_REGION, 1).set(Reg1::DMA0_SRC, 0).set(Reg1::DMA0_DST, 4080);
  dma.set(Reg1::DMA0_LEN, 32).op(Operation::DMA_START).stop();
  expect_fault({"a DMA", &u55(), dma, FaultKind::kOutOfRange, -2});
  Stream table;
  table.set(Reg0::DMA0_DST_REGION, 0x100).set(Reg1::DMA0_SRC, 0).set(Reg1::DMA0_DST, 0);
  table.set(Reg1::DMA0_LEN, 256).op(Operation::DMA_START).stop();
  expect_fault({"SHRAM that is no table", &u55(), table, FaultKind::kOutOfRange, -2});
  expect_fault({"a branch", &u85(), raw({word1(0x100, 0), 400}), FaultKind::kOutOfRange, -2});
}

TEST(SimFault, MisalignedAddresses) {
  const Map in{.h = 2, .w = 2, .c = 16}, out{.h = 2, .w = 2, .c = 16, .base = 1024};
  Map bricks = in, wide = in, wide_out = out;
  bricks.bricks = true;
  bricks.base = 8;
  wide.bits = wide_out.bits = 16;
  wide.base = 1;
  const auto pool = static_cast<uint32_t>(PoolMode::kAverage);
  expect_fault({"bricks", &u55(), copy(bricks, out).op(Operation::POOL, pool).stop(),
                FaultKind::kMisaligned, -2});
  expect_fault({"16 bits", &u55(), copy(wide, wide_out).op(Operation::POOL, pool).stop(),
                FaultKind::kMisaligned, -2});
  Map odd = wide;
  odd.base = 0;
  odd.stride_x = 33;
  expect_fault({"a stride", &u55(), copy(odd, wide_out).op(Operation::POOL, pool).stop(),
                FaultKind::kMisaligned, -2});
  Stream dma;
  dma.set(Reg0::DMA0_DST_REGION, 1).set(Reg1::DMA0_SRC, 8).set(Reg1::DMA0_LEN, 32);
  dma.op(Operation::DMA_START).stop();
  expect_fault({"a DMA of the U55", &u55(), dma, FaultKind::kMisaligned, -2});
  Machine(u65()).expect_run_ok(dma);  // U65 and U85 have no alignment rule for a DMA
  Stream weights = copy(in, out);
  weights.set(Reg1::WEIGHT_BASE, 8).set(Reg1::WEIGHT_LENGTH, 16);
  expect_fault({"weights", &u55(), weights.op(Operation::CONV).stop(), FaultKind::kMisaligned, -2});
  expect_fault({"a branch target that is not a multiple of 4 bytes", &u85(),
                raw({word1(0x100, 0), 2}), FaultKind::kMisaligned, -2});
}

TEST(SimFault, ReservedValues) {
  const Map in{.h = 2, .w = 2, .c = 16}, out{.h = 2, .w = 2, .c = 16, .base = 1024};
  const auto base = [&] { return copy(in, out); };
  const auto pool = static_cast<uint32_t>(PoolMode::kAverage);
  const auto bad = [](const char* name, const Config& of, const Stream& stream) {
    expect_fault({name, &of, stream, FaultKind::kBadRegister, -2});
  };
  bad("a pool of the U85", u55(), base().op(Operation::POOL, 3).stop());
  bad("an elementwise mode", u85(), base().op(Operation::ELEMENTWISE, 12).stop());
  bad("upscaling 3", u55(), base().set(Reg0::IFM_UPSCALE, 3).op(Operation::POOL, pool).stop());
  bad("format 2", u55(), base().set(Reg0::IFM_PRECISION, 2U << 6).op(Operation::POOL, pool).stop());
  bad("rounding 3", u55(),
      base().set(Reg0::OFM_PRECISION, 3U << 14).op(Operation::POOL, pool).stop());
  bad("rounding 6", u85(), base().scale(1, 0, 6U << 13).op(Operation::POOL, pool).stop());
  bad("transposition 4", u85(),
      base().set(Reg0::OFM_PRECISION, 4U << 11).op(Operation::POOL, pool).stop());
  bad("chain slot 6", u85(),
      base()
          .set(Reg0::IFM_PRECISION, 2U << 14)
          .set(Reg0::IFM_REGION, 6)
          .op(Operation::POOL, pool)
          .stop());
  bad("a chain slot that nobody wrote", u85(),
      base().set(Reg0::IFM_PRECISION, 2U << 14).op(Operation::POOL, pool).stop());
  bad("accumulators that nobody kept", u85(),
      base().set(Reg0::ACC_FORMAT, 1U << 4).op(Operation::POOL, pool).stop());
  bad("a table that nobody loaded", u55(),
      base().set(Reg0::ACTIVATION, 16).op(Operation::POOL, pool).stop());
  bad("only padding", u55(), base().pads(1, 0, 1, 0).op(Operation::POOL, pool).stop());
  bad("a deeper output", u55(), base().set(Reg0::IFM_DEPTH_M1, 7).op(Operation::POOL, pool).stop());
  bad("a wait for five DMAs", u85(), base().op(Operation::DMA_WAIT, 4).stop());
  bad("a wait for two kernels", u85(), base().op(Operation::KERNEL_WAIT, 2).stop());
}

TEST(SimFault, ParallelCoresNeedTwo) {
  const Map in{.h = 2, .w = 2, .c = 16}, out{.h = 2, .w = 2, .c = 16, .base = 1024};
  Stream s = copy(in, out);
  s.set(Reg0::PARALLEL_MODE, 1).op(Operation::CONV).stop();
  expect_fault({"one core", &config("ethos-u65-256"), s, FaultKind::kBadRegister, -2});
}

TEST(SimFault, WeightsThatDoNotDecode) {
  const Map in{.h = 2, .w = 2, .c = 16}, out{.h = 2, .w = 2, .c = 16, .base = 1024};
  Stream s;
  s.ifm(in).ofm(out, 0).window(1, 1).set(Reg0::OFM_BLK_DEPTH_M1, 15);
  s.set(Reg0::WEIGHT_REGION, 0).set(Reg0::SCALE_REGION, 0);
  s.set(Reg1::WEIGHT_LENGTH, 64).set(Reg1::SCALE_BASE, 1024).set(Reg1::SCALE_LENGTH, 160);
  s.op(Operation::CONV).stop();
  Machine machine(u55());
  std::fill(machine.constants.begin(), machine.constants.end(), 0xFF);
  EXPECT_EQ(static_cast<int>(machine.run(s).kind), static_cast<int>(FaultKind::kBadWeights));
}

TEST(SimFault, WorkspaceAndWorkAreLimited) {
  const Map in{.h = 2, .w = 2, .c = 16}, out{.h = 2, .w = 2, .c = 16, .base = 1024};
  Stream chained = copy(in, out);
  chained.set(Reg0::OFM_PRECISION, 1U << 8 | 1 | 2U << 14);
  chained.op(Operation::POOL, static_cast<uint32_t>(PoolMode::kSum)).stop();
  Machine machine(u85());
  machine.expect_run_ok(chained);
  machine.workspace_limit = 32;
  EXPECT_EQ(static_cast<int>(machine.run(chained).kind), static_cast<int>(FaultKind::kWorkspace));
  Stream big = copy(in, out).op(Operation::POOL, PoolMode::kAverage).stop();
  machine.max_cost = 63;
  EXPECT_EQ(static_cast<int>(machine.run(big).kind), static_cast<int>(FaultKind::kCostLimit));
  machine.max_cost = 64;
  machine.expect_run_ok(big);
}

TEST(SimFault, EndlessLoopIsDetected) {
  Stream forever = raw({word1(0x100, 0), 0});
  Machine machine(u85());
  const sim::Fault before = machine.run(forever);
  EXPECT_EQ(static_cast<int>(before.kind), static_cast<int>(FaultKind::kTruncated));  // no STOP yet
  forever.stop();
  EXPECT_EQ(static_cast<int>(machine.run(forever).kind), static_cast<int>(FaultKind::kCostLimit));
}

TEST(SimFault, RepeatedWordsAndOperationsHaveACost) {
  // Word 0: a branch to word 2. Word 2: a branch to word 0, which repeats 4 words.
  const Stream loop = raw({word1(0x100, 0), 8, word1(0x100, 0), 0});
  sim::Decoder decoder(u85(), loop.words.data(), static_cast<uint32_t>(loop.words.size()));
  sim::Step step;
  // The first branch back follows operations that were executed once.
  uint64_t repeated = 4;
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(decoder.next(&step).none());
    EXPECT_TRUE(decoder.branch(step.target, repeated).none());
    ASSERT_TRUE(decoder.next(&step).none());
    sim::Decoder lower = decoder;
    EXPECT_FALSE(lower.branch(step.target, repeated - 1).none()) << round;
    EXPECT_TRUE(decoder.branch(step.target, repeated).none()) << round;
    repeated += 4 + 2 * sim::Decoder::kOperationCost;
  }
}

}  // namespace
}  // namespace thimble::ethos_u::test
