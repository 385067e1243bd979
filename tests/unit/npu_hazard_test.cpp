// SPDX-License-Identifier: Apache-2.0
// The hazard checker: the rules one by one, and the adversarial modes, which must change the
// outputs where it reports a hazard. Streams of another compiler are tested by
// tests/npu/hazard_checker_experiment.cpp.

#include "engines/ethos_u/sim/hazard.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

#include "engines/ethos_u/sim/adversary.h"
#include "engines/ethos_u/sim/decode.h"
#include "engines/ethos_u/text/text.h"

namespace thimble::ethos_u::sim {
namespace {

using Random = std::mt19937;

// A minimal operation: a 1x1 pooling copies `n` bytes from `from` to `to`.
std::string copy_kernel(int from, int to, int n, int blockdep = 0) {
  std::string text;
  for (const char* map : {"IFM", "OFM"}) {
    const int base = map[0] == 'I' ? from : to;
    text += fmt::format("{}_REGION 1\n{}_BASE0 {:#x}\n", map, map, base);
    text +=
        fmt::format("{}_HEIGHT0_M1 0\n{}_HEIGHT1_M1 0\n{}_WIDTH0_M1 {}\n", map, map, map, n - 1);
    text += fmt::format("{}_STRIDE_X 1\n{}_STRIDE_Y {}\n{}_STRIDE_C 1\n", map, map, n, map);
  }
  text += "IFM_PRECISION signed=1 precision=0 format=NHWC scale_mode=0 round=0\n";
  text += "OFM_PRECISION signed=1 precision=0 format=NHWC scale_mode=1 round=NATURAL\n";
  text += fmt::format("OFM_HEIGHT_M1 0\nOFM_WIDTH_M1 {}\nOFM_DEPTH_M1 0\nIFM_DEPTH_M1 0\n", n - 1);
  text +=
      "OFM_BLK_WIDTH_M1 15\nOFM_BLK_HEIGHT_M1 0\nOFM_BLK_DEPTH_M1 7\nOFM_SCALE shift=0 "
      "multiplier=1\n";
  text += "KERNEL_WIDTH_M1 0\nKERNEL_HEIGHT_M1 0\nACTIVATION function=NONE clip=OFM\n";
  text += fmt::format("ACTIVATION_MIN -128\nACTIVATION_MAX 127\nBLOCKDEP {}\nPOOL MAX\n", blockdep);
  return text;
}

std::string copy_dma(int from, int to, int n) {
  return fmt::format(
      "DMA0_SRC_REGION region=1 internal=0 stride_mode=0\nDMA0_SRC {:#x}\n"
      "DMA0_DST_REGION region=1 internal=0 stride_mode=0\nDMA0_DST {:#x}\nDMA0_LEN "
      "{:#x}\nDMA_START\n",
      from, to, n);
}

class Stream {
 public:
  explicit Stream(const std::string& text, const char* config = "ethos-u65-256")
      : config_(*find_config(config)) {
    const auto words = text::assemble(text + "STOP 65535\n", config_.generation, "test");
    EXPECT_TRUE(words.ok()) << (words.ok() ? "" : words.error().message);
    if (words.ok()) words_ = *words;
  }

  /// Returns the checker's message for the last command with a hazard; empty if none has one.
  std::string hazard() const {
    HazardChecker checker(config_);
    Decoder decoder(config_, words_.data(), static_cast<uint32_t>(words_.size()));
    Step step;
    std::string said;
    const auto hear = [&](const Fault& fault) {
      if (!fault.none())
        said = fmt::format("{} {}: {}", order(fault.word), order(fault.other_word), fault.detail);
    };
    while (decoder.next(&step).none() && step.kind != StepKind::kStop) {
      if (step.kind == StepKind::kKernel) hear(checker.kernel(step.word, step.kernel));
      if (step.kind == StepKind::kDma) hear(checker.dma(step.word, step.dma));
      if (step.kind == StepKind::kKernelWait) checker.wait(true, step.parameter);
      if (step.kind == StepKind::kDmaWait) checker.wait(false, step.parameter);
    }
    EXPECT_EQ(checker.count() == 0, said.empty());
    return said;
  }

  /// Returns the adversarial modes that change the output bytes: W, K, D.
  std::string differs() const {
    std::vector<uint8_t> expected = memory();
    const Job job = job_on(expected);
    EXPECT_TRUE(run(job).none());
    std::string modes;
    for (const auto& [mode, name] : {std::pair{Adversary::kLateWrites, 'W'},
                                     {Adversary::kLateKernels, 'K'},
                                     {Adversary::kLateDmas, 'D'}}) {
      std::vector<uint8_t> bytes = memory();
      const Job again = job_on(bytes);
      size_t need = 0;
      EXPECT_TRUE(adversary_bytes(again, &need).none());
      std::vector<uint64_t> room(need / 8 + 1);
      auto* data = reinterpret_cast<uint8_t*>(room.data());
      EXPECT_TRUE(run_adversary(again, mode, data, need).none());
      EXPECT_EQ(run_adversary(again, mode, data, need - 1).kind, FaultKind::kWorkspace);
      if (bytes != expected) modes += name;
    }
    return modes;
  }

 private:
  static std::vector<uint8_t> memory() {
    std::vector<uint8_t> bytes(4096);
    Random random(9);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    return bytes;
  }
  Job job_on(std::vector<uint8_t>& bytes) const {
    Job job;
    job.config = &config_;
    job.words = words_.data();
    job.word_count = static_cast<uint32_t>(words_.size());
    job.regions[1] = {bytes.data(), bytes.size()};
    return job;
  }
  /// Returns the number of the kernel or DMA at a word, counted from 1.
  int order(uint32_t word) const {
    Decoder decoder(config_, words_.data(), static_cast<uint32_t>(words_.size()));
    Step step;
    int count = 0;
    while (decoder.next(&step).none() && step.kind != StepKind::kStop) {
      if (step.kind == StepKind::kKernel || step.kind == StepKind::kDma) ++count;
      if (step.word == word) return count;
    }
    return 0;
  }

  const Config& config_;
  std::vector<uint32_t> words_;
};

constexpr const char* kKernelWait = "KERNEL_WAIT 0\n";
constexpr const char* kDmaWait = "DMA_WAIT 0\n";

TEST(NpuHazard, DetectsDmaWriteToBufferInUse) {
  const std::string kernel = copy_kernel(0, 1024, 64);
  const std::string prefetch = copy_dma(512, 32, 64);
  const Stream bad(kernel + prefetch);
  EXPECT_EQ(bad.hazard(), "2 1: overwrites data that an operation may not have read yet");
  EXPECT_EQ(bad.differs(), "K");
  const Stream good(kernel + kKernelWait + prefetch);
  EXPECT_EQ(good.hazard(), "");
  EXPECT_EQ(good.differs(), "");
  const Stream beside(kernel + copy_dma(512, 64, 64));
  EXPECT_EQ(beside.hazard(), "");
}

TEST(NpuHazard, DetectsMissingDmaWait) {
  const std::string load = copy_dma(512, 0, 64);
  const std::string kernel = copy_kernel(0, 1024, 64);
  const Stream bad(load + kernel);
  EXPECT_EQ(bad.hazard(), "2 1: reads data that an operation may not have written yet");
  EXPECT_EQ(bad.differs(), "WD");
  const Stream good(load + kDmaWait + kernel);
  EXPECT_EQ(good.hazard(), "");
  EXPECT_EQ(good.differs(), "");
}

TEST(NpuHazard, DetectsDmaReadOfKernelOutput) {
  const Stream bad(copy_kernel(0, 1024, 64) + copy_dma(1024, 2048, 64));
  EXPECT_EQ(bad.hazard(), "2 1: reads data that an operation may not have written yet");
  EXPECT_EQ(bad.differs(), "WK");
}

TEST(NpuHazard, DetectsTwoWritesToOneAddress) {
  const Stream bad(copy_kernel(0, 1024, 64) + copy_dma(512, 1080, 64));
  EXPECT_EQ(bad.hazard(), "2 1: writes to bytes that an operation may not have written yet");
}

TEST(NpuHazard, EngineLimitRetiresOldestJob) {
  // Three kernels: the first is complete before the third is issued.
  const std::string kernels =
      copy_kernel(0, 1024, 64) + copy_kernel(128, 1280, 64) + copy_kernel(256, 1536, 64);
  EXPECT_EQ(Stream(kernels + copy_dma(512, 0, 64)).hazard(), "");
  EXPECT_EQ(Stream(kernels + copy_dma(512, 128, 64)).hazard(),
            "4 2: overwrites data that an operation may not have read yet");
  // Number of DMAs in flight: one on the U55, two on the U65, four on the U85.
  std::string dmas;
  for (int i = 0; i < 4; ++i) dmas += copy_dma(2048, 64 * i, 64);
  const std::string reader = copy_kernel(0, 1024, 256);
  const auto first_kernel = copy_kernel(64, 1024, 64);
  EXPECT_EQ(Stream(dmas + copy_kernel(128, 1024, 64), "ethos-u55-128").hazard(), "");
  EXPECT_EQ(Stream(dmas + first_kernel).hazard(), "");
  EXPECT_EQ(Stream(dmas + copy_kernel(128, 1024, 64)).hazard(),
            "5 3: reads data that an operation may not have written yet");
  EXPECT_EQ(Stream(dmas + "DMA_WAIT 1\n" + copy_kernel(128, 1024, 64)).hazard(), "");
  EXPECT_EQ(dmas_outstanding(Generation::kU85), 4U);
}

TEST(NpuHazard, DetectsTooLargeBlockdep) {
  // 64 columns are four blocks of 16. The last block is written last; the first is read first.
  const auto chain = [](int to, int from, int blockdep) {
    return Stream(copy_kernel(0, to, 64) + copy_kernel(from, 2048, 64, blockdep));
  };
  // Block 0 of the second kernel reads block 0 of the first, three blocks before the first ends.
  EXPECT_EQ(chain(1024, 1024, 3).hazard(), "");
  EXPECT_EQ(chain(1024, 1024, 3).differs(), "");
  // Shifted by two blocks: the second kernel first reads block 2, after which one block follows.
  constexpr const char* kSaid = "2 1: BLOCKDEP lets it read blocks that may not be written yet";
  EXPECT_EQ(chain(1024, 1024 + 32, 1).hazard(), "");
  EXPECT_EQ(chain(1024, 1024 + 32, 1).differs(), "");
  EXPECT_EQ(chain(1024, 1024 + 32, 2).hazard(), kSaid);
  EXPECT_EQ(chain(1024, 1024 + 32, 2).differs(), "W");
  EXPECT_EQ(chain(1024, 1024 + 48, 1).hazard(), kSaid);
  EXPECT_EQ(chain(1024, 1024 + 48, 1).differs(), "W");
  EXPECT_EQ(chain(1024, 1024 + 48, 0).hazard(), "");
  // After a wait, no dependency remains.
  EXPECT_EQ(
      Stream(copy_kernel(0, 1024, 64) + kKernelWait + copy_kernel(1072, 2048, 64, 3)).hazard(), "");
}

KernelOperation with_table(uint32_t slot) {
  KernelOperation operation;
  operation.code = Operation::POOL;
  operation.ifm.height = operation.ifm.width = operation.ifm.depth = 1;
  operation.ifm.height0 = operation.ifm.height1 = operation.ifm.width0 = 1;
  operation.ofm = operation.ifm;
  operation.ofm.base[0] = 64;
  operation.activation = static_cast<uint8_t>(16 + slot);
  return operation;
}

DmaOperation load_table(const Config& config, uint32_t slot) {
  DmaOperation dma;
  dma.destination_internal = true;
  dma.source = 4096;
  dma.destination = uint64_t{config.banks} * 1024 - kLutBytes + uint64_t{slot} * 256;
  dma.length = 256;
  return dma;
}

TEST(NpuHazard, ChecksTableMemory) {
  const Config& config = *find_config("ethos-u55-128");
  HazardChecker checker(config);
  EXPECT_TRUE(checker.dma(1, load_table(config, 2)).none());
  EXPECT_TRUE(checker.kernel(2, with_table(1)).none());
  const Fault unloaded = checker.kernel(3, with_table(2));
  EXPECT_EQ(unloaded.kind, FaultKind::kHazard);
  EXPECT_EQ(unloaded.word, 3U);
  EXPECT_EQ(unloaded.other_word, 1U);
  checker.wait(false, 0);
  EXPECT_TRUE(checker.kernel(4, with_table(2)).none());
  const Fault overwritten = checker.dma(5, load_table(config, 2));
  EXPECT_EQ(overwritten.kind, FaultKind::kHazard);
  EXPECT_EQ(overwritten.other_word, 4U);
  EXPECT_EQ(checker.count(), 2U);
  EXPECT_EQ(checker.first().word, 3U);
  checker.stop();
  EXPECT_TRUE(checker.dma(6, load_table(config, 2)).none());
}

TEST(NpuHazard, AccumulatorsOverlapTablesOnSmallConfigurations) {
  KernelOperation plain = with_table(0);
  plain.activation = 0;
  plain.ifm.base[0] = 128;
  for (const char* name : {"ethos-u55-64", "ethos-u55-128"}) {
    const Config& config = *find_config(name);
    const bool small = config.banks == 16;
    HazardChecker checker(config);
    EXPECT_TRUE(checker.kernel(1, plain).none());
    EXPECT_EQ(checker.dma(2, load_table(config, 0)).none(), !small);
    checker.stop();
    plain.blockdep = 1;
    EXPECT_TRUE(checker.kernel(3, with_table(0)).none());
    EXPECT_EQ(checker.kernel(4, plain).none(), !small);
    plain.blockdep = 0;
    EXPECT_TRUE(checker.kernel(5, with_table(0)).none());
    EXPECT_TRUE(checker.kernel(6, plain).none());
  }
}

TEST(NpuHazard, ChecksWeightsScalesAndChains) {
  const Config& config = *find_config("ethos-u85-256");
  KernelOperation conv = with_table(0);
  conv.code = Operation::CONV;
  conv.activation = 0;
  conv.weights[0] = {2, 0, 64};
  conv.scales[0] = {2, 64, 16};
  DmaOperation weights;
  weights.destination_region = 2;
  weights.destination = 48;
  weights.length = 16;
  DmaOperation scales = weights;
  scales.destination = 79;
  HazardChecker checker(config);
  EXPECT_TRUE(checker.kernel(1, conv).none());
  EXPECT_FALSE(checker.dma(2, weights).none());
  EXPECT_FALSE(checker.dma(3, scales).none());
  scales.destination = 80;
  EXPECT_TRUE(checker.dma(4, scales).none());
  checker.stop();

  KernelOperation first = conv, second = conv;
  first.ofm.storage = Storage::kChained;
  second.ifm.storage = Storage::kChained;
  EXPECT_TRUE(checker.kernel(5, first).none());
  EXPECT_TRUE(checker.kernel(6, second).none());
  checker.stop();
  second.blockdep = 1;
  EXPECT_TRUE(checker.kernel(7, first).none());
  EXPECT_TRUE(checker.kernel(8, second).none());  // nothing in memory
  KernelOperation third = conv;
  third.ifm = second.ofm;
  third.blockdep = 1;
  EXPECT_EQ(checker.kernel(9, third).kind, FaultKind::kHazard);
}

TEST(NpuHazard, ChainCountsAsOneKernel) {
  const Config& config = *find_config("ethos-u85-256");
  KernelOperation head = with_table(0), tail = with_table(0), next = with_table(0);
  head.activation = tail.activation = next.activation = 0;
  head.ifm.base[0] = 1024;
  head.ofm.storage = tail.ifm.storage = Storage::kChained;
  DmaOperation over_head;
  over_head.destination = 1024;
  over_head.length = 16;
  over_head.source = 4096;
  HazardChecker checker(config);
  EXPECT_TRUE(checker.kernel(1, head).none());
  EXPECT_TRUE(checker.kernel(2, tail).none());
  EXPECT_TRUE(checker.kernel(3, next).none());
  EXPECT_EQ(checker.dma(4, over_head).other_word, 1U);
  checker.stop();
  EXPECT_TRUE(checker.kernel(5, head).none());
  EXPECT_TRUE(checker.kernel(6, tail).none());
  EXPECT_TRUE(checker.kernel(7, next).none());
  checker.wait(true, 1);
  EXPECT_TRUE(checker.dma(8, over_head).none());
  EXPECT_TRUE(checker.kernel(9, next).none());
  EXPECT_TRUE(checker.kernel(10, next).none());
}

TEST(NpuHazard, KernelsThatKeepAccumulatorsAreSeparate) {
  const Config& config = *find_config("ethos-u85-256");
  KernelOperation first = with_table(0);
  first.code = Operation::CONV;
  first.activation = 0;
  first.weights[0] = {2, 0, 64};
  KernelOperation second = first;
  second.weights[0] = {2, 64, 64};
  second.accumulator_input = AccumulatorInput::kKeep;
  DmaOperation over_first;
  over_first.destination_region = 2;
  over_first.length = 64;
  HazardChecker checker(config);
  EXPECT_TRUE(checker.kernel(1, first).none());
  EXPECT_TRUE(checker.kernel(2, second).none());
  EXPECT_EQ(checker.dma(3, over_first).other_word, 1U);
  checker.stop();
  EXPECT_TRUE(checker.kernel(4, first).none());
  EXPECT_TRUE(checker.kernel(5, second).none());
  checker.wait(true, 1);
  EXPECT_TRUE(checker.dma(6, over_first).none());
}

TEST(NpuHazard, CheckerObservesSimulatorRun) {
  const Config& config = *find_config("ethos-u65-256");
  HazardChecker checker(config);
  const Observer observer = checker.observer();
  const auto words = text::assemble(copy_kernel(0, 1024, 64) + copy_dma(512, 32, 64) + "STOP 0",
                                    config.generation, "test");
  ASSERT_TRUE(words.ok());
  std::vector<uint8_t> bytes(4096);
  Job job;
  job.config = &config;
  job.words = words->data();
  job.word_count = static_cast<uint32_t>(words->size());
  job.regions[1] = {bytes.data(), bytes.size()};
  job.observer = &observer;
  EXPECT_TRUE(run(job).none());
  EXPECT_EQ(checker.count(), 1U);
  EXPECT_EQ(checker.first().kind, FaultKind::kHazard);
}

}  // namespace
}  // namespace thimble::ethos_u::sim
