// SPDX-License-Identifier: Apache-2.0
// The timeline: cycles of kernels computed by hand, and properties of sharing. No port exceeds its
// bandwidth, nothing starts before its dependencies end, and more bandwidth never takes longer.

#include "engines/ethos_u/sim/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "engines/ethos_u/text/text.h"

namespace thimble::ethos_u::sim {
namespace {

const Config& config_of(const char* name) {
  return *find_config(name);
}

FeatureMap map_of(uint32_t height, uint32_t width, uint32_t depth, uint8_t region) {
  FeatureMap map;
  map.region = region;
  map.is_signed = true;
  map.format = Format::kNhwc;
  map.height = map.height0 = map.height1 = height;
  map.width = map.width0 = width;
  map.depth = depth;
  map.stride_x = depth;
  map.stride_y = int64_t{depth} * width;
  return map;
}

KernelOperation conv(uint32_t size, uint32_t in, uint32_t out, uint32_t kernel) {
  KernelOperation operation;
  operation.code = Operation::CONV;
  operation.ifm = map_of(size, size, in, 1);
  operation.ofm = map_of(size, size, out, 1);
  operation.kernel.height = operation.kernel.width = kernel;
  operation.kernel.pad_top = operation.kernel.pad_left = kernel / 2;
  operation.block_height = operation.block_width = 8;
  operation.block_depth = 16;
  operation.weights[0] = {0, 0, 1024};
  return operation;
}

KernelCycles cycles_of(const char* config, const KernelOperation& operation) {
  const Config& hardware = config_of(config);
  return kernel_cycles(hardware, *default_system(hardware.generation), MemoryMode::kSharedSram,
                       operation);
}

TEST(KernelCycles, ConvolutionEqualsHandComputedCycles) {
  // 8x8 positions are 32 blocks of 1x2; 16 channels are 2 deep. Cycles: 9 taps * 2 slices of 32
  // inputs * (4 * 32 blocks) * 2.
  const KernelCycles cycles = cycles_of("ethos-u55-128", conv(8, 64, 16, 3));
  EXPECT_DOUBLE_EQ(cycles.multiply, 9 * 2 * (4 * 32) * 2);
  EXPECT_DOUBLE_EQ(cycles.output, 0.5 * 8 * 8 * 16);
  EXPECT_DOUBLE_EQ(cycles.blocks, 1);
  EXPECT_DOUBLE_EQ(cycles.compute(), cycles.multiply);
  EXPECT_EQ(cycles.macs, 8U * 8 * 16 * 64 * 9);
  // The part computes 128 products per cycle.
  EXPECT_DOUBLE_EQ(static_cast<double>(cycles.macs) / cycles.multiply, 128);
}

TEST(KernelCycles, DepthwiseEqualsHandComputedCycles) {
  // The positions and depths of the convolution above. Four of the 9 taps are processed at a time.
  KernelOperation operation = conv(8, 16, 16, 3);
  operation.code = Operation::DEPTHWISE;
  EXPECT_DOUBLE_EQ(cycles_of("ethos-u55-128", operation).multiply, 3 * (4 * 32) * 2);
  operation.ifm.bits = 16;
  EXPECT_DOUBLE_EQ(cycles_of("ethos-u55-128", operation).multiply, 3 * (2 * 4 * 32) * 2);
}

TEST(KernelCycles, MoreMacsPerCycleNeedFewerCycles) {
  const KernelOperation operation = conv(16, 64, 64, 3);
  double before = 1e18;
  for (const char* name : {"ethos-u55-32", "ethos-u55-64", "ethos-u55-128", "ethos-u55-256"}) {
    const KernelCycles cycles = cycles_of(name, operation);
    EXPECT_LE(static_cast<double>(cycles.macs), cycles.compute() * config_of(name).macs) << name;
    EXPECT_LT(cycles.compute(), before) << name;
    before = cycles.compute();
  }
}

TEST(KernelCycles, PartKernelFirstIsFasterForFewChannels) {
  KernelOperation operation = conv(8, 4, 16, 3);
  const double depth_first = cycles_of("ethos-u55-128", operation).multiply;
  operation.kernel.part_kernel_first = true;
  // Nine taps need three steps of four instead of nine steps.
  EXPECT_DOUBLE_EQ(cycles_of("ethos-u55-128", operation).multiply * 3, depth_first);
}

TEST(KernelCycles, SparseWeightsAndTwoCoresHalveCycles) {
  KernelOperation operation = conv(8, 64, 16, 1);
  KernelOperation sparse = operation;
  sparse.sparse = true;
  operation.microblock = sparse.microblock = Microblock::k2x2;
  EXPECT_LE(cycles_of("ethos-u85-256", sparse).multiply,
            cycles_of("ethos-u85-256", operation).multiply);
  const double one = cycles_of("ethos-u65-512", operation).multiply;
  operation.cores = 2;
  EXPECT_DOUBLE_EQ(cycles_of("ethos-u65-512", operation).multiply * 2, one);
}

TEST(KernelCycles, OutputStageEqualsHandComputedCycles) {
  KernelOperation operation;
  operation.code = Operation::ELEMENTWISE;
  operation.mode = static_cast<uint16_t>(ElementwiseMode::kAdd);
  operation.ifm = map_of(16, 16, 128, 1);
  operation.ifm2 = operation.ofm = operation.ifm;
  operation.has_ifm2 = true;
  operation.block_height = operation.block_width = 16;
  operation.block_depth = 32;
  const KernelCycles cycles = cycles_of("ethos-u55-128", operation);
  EXPECT_DOUBLE_EQ(cycles.compute(), 1.5 * 16 * 16 * 128);
  EXPECT_DOUBLE_EQ(cycles.read.of[0], 2.0 * 16 * 16 * 128);
  EXPECT_DOUBLE_EQ(cycles.written.of[0], 16.0 * 16 * 128 * 2);  // uses 16 bytes of a 32-byte burst
}

TEST(KernelCycles, PortsFollowMemoryMode) {
  EXPECT_EQ(port_of(MemoryMode::kSramOnly, 0), 0U);
  EXPECT_EQ(port_of(MemoryMode::kSharedSram, 0), 1U);
  EXPECT_EQ(port_of(MemoryMode::kSharedSram, 1), 0U);
  EXPECT_EQ(port_of(MemoryMode::kDedicatedSram, 0), 1U);
  EXPECT_EQ(port_of(MemoryMode::kDedicatedSram, 1), 1U);
  EXPECT_EQ(port_of(MemoryMode::kDedicatedSram, 2), 0U);
  const KernelCycles cycles = cycles_of("ethos-u55-128", conv(16, 32, 32, 1));
  EXPECT_DOUBLE_EQ(cycles.read.of[1], 4.0 * 1024);  // once per block of height and width
}

std::string map_text(const char* map, int base, int size, int depth) {
  return fmt::format(
      "{0}_REGION 1\n{0}_BASE0 {1:#x}\n{0}_HEIGHT0_M1 {2}\n{0}_HEIGHT1_M1 {2}\n{0}_WIDTH0_M1 {2}\n"
      "{0}_STRIDE_X {3}\n{0}_STRIDE_Y {4}\n{0}_STRIDE_C 1\n{0}_DEPTH_M1 {5}\n",
      map, base, size - 1, depth, depth * size, depth - 1);
}

std::string kernel_text(int from, int to, int blockdep) {
  return map_text("IFM", from, 16, 64) + map_text("OFM", to, 16, 64) +
         "IFM_PRECISION signed=1 precision=0 format=NHWC scale_mode=0 round=0\n"
         "OFM_PRECISION signed=1 precision=0 format=NHWC scale_mode=1 round=NATURAL\n"
         "OFM_HEIGHT_M1 15\nOFM_WIDTH_M1 15\nOFM_BLK_WIDTH_M1 7\nOFM_BLK_HEIGHT_M1 7\n"
         "OFM_BLK_DEPTH_M1 31\nKERNEL_WIDTH_M1 0\nKERNEL_HEIGHT_M1 0\n"
         "ACTIVATION function=NONE clip=OFM\nACTIVATION_MIN -128\nACTIVATION_MAX 127\n" +
         fmt::format("BLOCKDEP {}\nPOOL MAX\n", blockdep);
}

std::string dma_text(int source_region, int from, int to, int bytes) {
  return fmt::format(
      "DMA0_SRC_REGION region={} internal=0 stride_mode=0\nDMA0_SRC {:#x}\n"
      "DMA0_DST_REGION region=1 internal=0 stride_mode=0\nDMA0_DST {:#x}\nDMA0_LEN {:#x}\n"
      "DMA_START\n",
      source_region, from, to, bytes);
}

struct TimelineResult {
  Timeline timeline;
  std::vector<OperationTime> operations;  // in the order of the stream
};

TimelineResult timeline_of(const std::string& text, const System& system) {
  const Config& config = config_of("ethos-u55-128");
  const auto words = text::assemble(text + "STOP 65535\n", config.generation, "test");
  EXPECT_TRUE(words.ok()) << (words.ok() ? "" : words.error().message);
  TimelineResult told;
  told.operations.resize(64);
  const TimelineJob job = {&config,
                           &system,
                           MemoryMode::kSharedSram,
                           words->data(),
                           static_cast<uint32_t>(words->size()),
                           told.operations.data(),
                           64};
  EXPECT_TRUE(make_timeline(job, &told.timeline).none());
  told.operations.resize(told.timeline.operation_count);
  std::ranges::sort(told.operations, {}, &OperationTime::word);
  return told;
}

const System& usual() {
  return *default_system(Generation::kU55);
}

TEST(Timeline, DmaTimeIsLatencyPlusTransfer) {
  const TimelineResult told = timeline_of(dma_text(0, 0, 0, 4096), usual());
  EXPECT_DOUBLE_EQ(told.timeline.cycles, 64 + 4096 / 1.0);  // one byte per cycle from the flash
  EXPECT_DOUBLE_EQ(told.timeline.read.of[1], 4096);
  EXPECT_DOUBLE_EQ(told.timeline.written.of[0], 4096);
  EXPECT_EQ(told.operations[0].bound, Bound::kExternalPort);
}

TEST(Timeline, WaitsSerializeAndOthersOverlap) {
  const std::string kernel = kernel_text(0, 0x8000, 0);
  const std::string load = dma_text(0, 0, 0x10000, 4096);
  const TimelineResult beside = timeline_of(kernel + load, usual());
  const TimelineResult after = timeline_of(kernel + "KERNEL_WAIT 0\n" + load, usual());
  const TimelineResult before = timeline_of(load + "DMA_WAIT 0\n" + kernel, usual());
  EXPECT_DOUBLE_EQ(beside.operations[1].start, 0);
  EXPECT_GE(after.operations[1].start, after.operations[0].end);
  EXPECT_GE(before.operations[1].start, before.operations[0].end);
  EXPECT_LT(beside.timeline.cycles, after.timeline.cycles);
  EXPECT_NEAR(after.timeline.cycles, before.timeline.cycles, 1e-6);
  EXPECT_GE(beside.timeline.cycles,
            std::max(beside.timeline.kernel_cycles, beside.timeline.dma_cycles) - 1e-6);
}

TEST(Timeline, BlockdepZeroWaitsForPreviousKernel) {
  const TimelineResult apart =
      timeline_of(kernel_text(0, 0x8000, 0) + kernel_text(0x8000, 0xC000, 0), usual());
  const TimelineResult overlapping =
      timeline_of(kernel_text(0, 0x8000, 0) + kernel_text(0x8000, 0xC000, 3), usual());
  EXPECT_GE(apart.operations[1].start, apart.operations[0].end);
  EXPECT_LT(overlapping.operations[1].start, overlapping.operations[0].end);
  EXPECT_LT(overlapping.timeline.cycles, apart.timeline.cycles);
}

TEST(Timeline, NoPortExceedsItsBandwidth) {
  std::mt19937 random(4);
  for (int round = 0; round < 200; ++round) {
    std::string text;
    const int count = 2 + static_cast<int>(random() % 8);
    for (int i = 0; i < count; ++i) {
      switch (random() % 4) {
        case 0:
          text += kernel_text(0, 0x8000, static_cast<int>(random() % 4));
          break;
        case 1:
          text += dma_text(static_cast<int>(random() % 2), 0, 0x10000,
                           16 * static_cast<int>(1 + random() % 2000));
          break;
        case 2:
          text += fmt::format("KERNEL_WAIT {}\n", random() % 2);
          break;
        default:
          text += "DMA_WAIT 0\n";
          break;
      }
    }
    const TimelineResult told = timeline_of(text, usual());
    const Timeline& timeline = told.timeline;
    EXPECT_GE(timeline.cycles + 1e-6,
              (timeline.read.of[0] + timeline.written.of[0]) / usual().sram.bytes_per_cycle);
    EXPECT_GE(timeline.cycles + 1e-6,
              (timeline.read.of[1] + timeline.written.of[1]) / usual().external.bytes_per_cycle);
    double ends[2] = {};
    for (const OperationTime& operation : told.operations) {
      EXPECT_LE(operation.start, operation.end);
      EXPECT_LE(operation.end, timeline.cycles + 1e-6);
      EXPECT_GE(operation.end + 1e-6, ends[operation.kernel ? 0 : 1]);
      ends[operation.kernel ? 0 : 1] = operation.end;
    }
    System faster = usual();
    faster.sram.bytes_per_cycle *= 2;
    faster.external.bytes_per_cycle *= 2;
    EXPECT_LE(timeline_of(text, faster).timeline.cycles, timeline.cycles + 1e-6) << text;
  }
}

TEST(Timeline, SharedPortBandwidthIsDivided) {
  // Two users of the SRAM's whole bandwidth: a copy inside it, and a kernel limited by it.
  System slow = usual();
  slow.sram.bytes_per_cycle = 0.5;
  const std::string kernel = kernel_text(0, 0x8000, 0);
  const std::string copy = dma_text(1, 0x10000, 0x20000, 8192);
  const double kernel_alone = timeline_of(kernel, slow).timeline.cycles;
  const double copy_alone = timeline_of(copy, slow).timeline.cycles;
  const TimelineResult both = timeline_of(kernel + copy, slow);
  EXPECT_EQ(both.operations[0].bound, Bound::kSramPort);
  EXPECT_GT(both.timeline.cycles, std::max(kernel_alone, copy_alone) * 1.2);
  EXPECT_LE(both.timeline.cycles, kernel_alone + copy_alone + 1e-6);
}

}  // namespace
}  // namespace thimble::ethos_u::sim
