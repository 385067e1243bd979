// The hazard checker: footprints compared with sets of bytes, the rules one by one, and the
// adversarial modes, which must change the outputs where it reports a hazard. Streams of another
// compiler are tested by tests/npu/hazard_checker_experiment.cpp.

#include "engines/ethos_u/sim/hazard.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>
#include <string>

#include "engines/ethos_u/sim/adversary.h"
#include "engines/ethos_u/sim/decode.h"
#include "engines/ethos_u/sim/jobs.h"
#include "engines/ethos_u/text/text.h"

namespace thimble::ethos_u::sim {
namespace {

using ByteSet = std::set<int64_t>;
using Random = std::mt19937;

uint32_t pick(Random& random, uint32_t low, uint32_t high) {
  return low + static_cast<uint32_t>(random() % (high - low + 1));
}

void list(const Span& span, ByteSet* bytes) {
  for (uint64_t i = 0; i < span.axis[0].count; ++i) {
    for (uint64_t j = 0; j < span.axis[1].count; ++j) {
      for (uint64_t k = 0; k < span.axis[2].count; ++k) {
        const int64_t first = span.first + span.axis[0].stride * static_cast<int64_t>(i) +
                              span.axis[1].stride * static_cast<int64_t>(j) +
                              span.axis[2].stride * static_cast<int64_t>(k);
        for (int64_t b = 0; b < span.run; ++b) bytes->insert(first + b);
      }
    }
  }
}

ByteSet list(const Footprint& footprint) {
  ByteSet bytes;
  for (unsigned i = 0; i < footprint.count(); ++i) list(footprint.span(i), &bytes);
  return bytes;
}

bool share(const ByteSet& a, const ByteSet& b) {
  for (const int64_t byte : a) {
    if (b.contains(byte)) return true;
  }
  return false;
}

TEST(NpuFootprint, SpansIntersectExactlyIfBytesDo) {
  Random random(1);
  int met = 0;
  for (int i = 0; i < 20000; ++i) {
    Span spans[2];
    Footprint footprints[2];
    ByteSet bytes[2];
    for (int s = 0; s < 2; ++s) {
      spans[s].first = pick(random, 100, 160);
      spans[s].run = pick(random, 1, 6);
      for (SpanAxis& axis : spans[s].axis) {
        axis.stride = static_cast<int64_t>(pick(random, 0, 40)) - 20;
        axis.count = pick(random, 1, 4);
      }
      list(spans[s], &bytes[s]);
      footprints[s].add(spans[s]);
      ASSERT_EQ(list(footprints[s]), bytes[s]);
    }
    const bool expected = share(bytes[0], bytes[1]);
    ASSERT_EQ(footprints[0].overlaps(footprints[1]), expected) << i;
    met += expected ? 1 : 0;
  }
  EXPECT_GT(met, 2000);
  EXPECT_LT(met, 18000);
}

FeatureMap random_map(Random& random, uint32_t height, uint32_t width, uint32_t depth) {
  FeatureMap map;
  map.region = 1;
  map.bits = random() % 2 == 0 ? 8 : 16;
  map.format = random() % 2 == 0 ? Format::kNhwc : Format::kNhcwb16;
  map.height = height;
  map.width = width;
  map.depth = depth;
  map.height0 = pick(random, 1, height);
  map.height1 = pick(random, 1, height);
  map.width0 = pick(random, 1, width);
  const int64_t elem = map.bits / 8;
  if (map.format == Format::kNhwc) {
    map.stride_x = depth * elem + pick(random, 0, 1) * 4;
    map.stride_y = map.stride_x * width + pick(random, 0, 1) * 8;
  } else {
    map.stride_x = 16 * elem;
    map.stride_c = map.stride_x * width;
    map.stride_y = map.stride_c * ((depth + 15) / 16);
  }
  for (uint64_t& base : map.base) base = 16 * pick(random, 0, 200);
  return map;
}

int64_t address_of(const FeatureMap& map, uint32_t y, uint32_t x, uint32_t c) {
  int tile = 0;
  if (x >= map.width0) {
    tile = y >= map.height1 ? 3 : 1;
  } else if (y >= map.height0) {
    tile = 2;
  }
  const uint32_t row = tile == 2 ? y - map.height0 : tile == 3 ? y - map.height1 : y;
  const uint32_t column = tile == 1 || tile == 3 ? x - map.width0 : x;
  const int64_t elem = map.bits / 8;
  const int64_t at =
      static_cast<int64_t>(map.base[tile]) + row * map.stride_y + column * map.stride_x;
  if (map.format == Format::kNhwc) return at + c * elem;
  return at + c / 16 * map.stride_c + c % 16 * elem;
}

void add_element(const FeatureMap& map, uint32_t y, uint32_t x, uint32_t c, ByteSet* bytes) {
  for (int i = 0; i < map.bits / 8; ++i) bytes->insert(address_of(map, y, x, c) + i);
}

TEST(NpuFootprint, BoxContainsBytesOfItsElements) {
  Random random(2);
  for (int i = 0; i < 3000; ++i) {
    const FeatureMap map =
        random_map(random, pick(random, 1, 5), pick(random, 1, 5), pick(random, 1, 50));
    Box box;
    box.y0 = pick(random, 0, map.height - 1), box.y1 = pick(random, box.y0, map.height);
    box.x0 = pick(random, 0, map.width - 1), box.x1 = pick(random, box.x0, map.width);
    box.c0 = pick(random, 0, map.depth - 1), box.c1 = pick(random, box.c0, map.depth);
    ByteSet expected;
    for (uint32_t y = box.y0; y < box.y1; ++y) {
      for (uint32_t x = box.x0; x < box.x1; ++x) {
        for (uint32_t c = box.c0; c < box.c1; ++c) add_element(map, y, x, c, &expected);
      }
    }
    Footprint footprint;
    add_box(map, box, &footprint);
    ASSERT_EQ(list(footprint), expected) << i;
  }
}

KernelOperation random_window(Random& random) {
  KernelOperation operation;
  operation.code = random() % 2 == 0 ? Operation::DEPTHWISE : Operation::CONV;
  Kernel& kernel = operation.kernel;
  kernel.height = pick(random, 1, 4), kernel.width = pick(random, 1, 4);
  kernel.stride_y = static_cast<uint8_t>(pick(random, 1, 3));
  kernel.stride_x = static_cast<uint8_t>(pick(random, 1, 3));
  kernel.dilation_y = static_cast<uint8_t>(pick(random, 1, 2));
  kernel.pad_top = pick(random, 0, 3), kernel.pad_left = pick(random, 0, 3);
  operation.upscale = static_cast<Upscale>(pick(random, 0, 1));
  const uint32_t depth = pick(random, 1, 70);
  operation.ifm = random_map(random, pick(random, 2, 7), pick(random, 2, 7), depth);
  operation.ofm = random_map(random, pick(random, 1, 7), pick(random, 1, 7),
                             operation.code == Operation::CONV ? pick(random, 1, 40) : depth);
  operation.block_height = pick(random, 1, 4), operation.block_width = pick(random, 1, 4);
  operation.block_depth = 8 * pick(random, 1, 3);
  return operation;
}

/// Returns the bytes that the outputs of the block read, enumerated one by one.
ByteSet bytes_read_by(const KernelOperation& operation, const Box& block) {
  ByteSet bytes;
  const Kernel& kernel = operation.kernel;
  const int64_t scale = operation.upscale == Upscale::kNone ? 1 : 2;
  for (uint32_t y = block.y0; y < block.y1; ++y) {
    for (uint32_t x = block.x0; x < block.x1; ++x) {
      for (uint32_t ky = 0; ky < kernel.height; ++ky) {
        for (uint32_t kx = 0; kx < kernel.width; ++kx) {
          const int64_t row =
              int64_t{y} * kernel.stride_y - kernel.pad_top + ky * kernel.dilation_y;
          const int64_t column = int64_t{x} * kernel.stride_x - kernel.pad_left + kx;
          if (row < 0 || column < 0 || row >= operation.ifm.height * scale ||
              column >= operation.ifm.width * scale) {
            continue;
          }
          const bool conv = operation.code == Operation::CONV;
          for (uint32_t c = conv ? 0 : block.c0; c < (conv ? operation.ifm.depth : block.c1); ++c) {
            add_element(operation.ifm, static_cast<uint32_t>(row / scale),
                        static_cast<uint32_t>(column / scale), c, &bytes);
          }
        }
      }
    }
  }
  return bytes;
}

TEST(Jobs, JobsReadFootprintOfTheirBlock) {
  Random random(3);
  const Config& config = *find_config("ethos-u55-128");
  for (int i = 0; i < 400; ++i) {
    const KernelOperation operation = random_window(random);
    const Jobs jobs(config, operation);
    uint64_t elements = 0;
    for (uint64_t block = 0; block < jobs.blocks(); ++block) {
      const Box box = jobs.block(block);
      elements += uint64_t{box.y1 - box.y0} * (box.x1 - box.x0) * (box.c1 - box.c0);
      EXPECT_EQ(jobs.block_of(box.y1 - 1, box.x0, box.c1 - 1), block);
      ByteSet read;
      for (uint32_t job = 0; job < jobs.jobs_per_block(); ++job) {
        Footprint footprint;
        jobs.reads(block * jobs.jobs_per_block() + job, &footprint);
        read.merge(list(footprint));
      }
      const ByteSet needed = bytes_read_by(operation, box);
      ASSERT_TRUE(std::includes(read.begin(), read.end(), needed.begin(), needed.end())) << i;
      if (operation.kernel.stride_y == 1 && operation.kernel.stride_x == 1 &&
          operation.kernel.dilation_y == 1) {
        ASSERT_EQ(read, needed) << i;
      }
    }
    EXPECT_EQ(elements, uint64_t{operation.ofm.height} * operation.ofm.width * operation.ofm.depth);
  }
}

/// Both neighbours of each position of a resize, clipped to the IFM.
TEST(Jobs, ResizeReadsBothNeighboursOfEachPosition) {
  Random random(4);
  const Config& config = *find_config("ethos-u85-256");
  for (int i = 0; i < 200; ++i) {
    KernelOperation operation;
    operation.code = Operation::RESIZE;
    operation.ifm = random_map(random, pick(random, 1, 6), pick(random, 1, 6), 3);
    operation.ofm = random_map(random, pick(random, 1, 12), pick(random, 1, 12), 3);
    operation.block_height = pick(random, 1, 3), operation.block_width = pick(random, 1, 5);
    operation.block_depth = 16;
    // Position of output k: (k * step + offset) / n.
    const uint32_t n_y = pick(random, 1, 8), n_x = pick(random, 1, 8);
    const uint32_t step_y = pick(random, 1, 12), step_x = pick(random, 1, 12);
    operation.resize_n_y = n_y, operation.resize_n_x = n_x;
    operation.resize_one_step_y = step_y / n_y, operation.resize_one_step_mod_y = step_y % n_y;
    operation.resize_one_step_x = step_x / n_x, operation.resize_one_step_mod_x = step_x % n_x;
    operation.resize_offset_y = static_cast<int32_t>(pick(random, 0, 8)) - 4;
    operation.resize_offset_x = static_cast<int32_t>(pick(random, 0, 8)) - 4;
    const auto floor_of = [](int64_t a, int64_t b) { return a < 0 ? -((b - 1 - a) / b) : a / b; };
    const auto neighbours = [&](uint32_t k, uint32_t step, int32_t offset, uint32_t n,
                                uint32_t limit) {
      const int64_t low = floor_of(int64_t{k} * step + offset, n);
      const auto inside = [&](int64_t at) { return std::clamp<int64_t>(at, 0, limit - 1); };
      return std::pair(inside(low), inside(low + 1));
    };
    const Jobs jobs(config, operation);
    for (uint64_t block = 0; block < jobs.blocks(); ++block) {
      const Box box = jobs.block(block);
      ByteSet needed;
      for (uint32_t y = box.y0; y < box.y1; ++y) {
        const auto [top, bottom] =
            neighbours(y, step_y, operation.resize_offset_y, n_y, operation.ifm.height);
        for (uint32_t x = box.x0; x < box.x1; ++x) {
          const auto [left, right] =
              neighbours(x, step_x, operation.resize_offset_x, n_x, operation.ifm.width);
          for (uint32_t c = box.c0; c < box.c1; ++c) {
            for (const int64_t row : {top, bottom}) {
              for (const int64_t column : {left, right}) {
                add_element(operation.ifm, static_cast<uint32_t>(row),
                            static_cast<uint32_t>(column), c, &needed);
              }
            }
          }
        }
      }
      ASSERT_EQ(jobs.jobs_per_block(), 1U);
      Footprint footprint;
      jobs.reads(block, &footprint);
      const ByteSet read = list(footprint);
      ASSERT_TRUE(std::includes(read.begin(), read.end(), needed.begin(), needed.end())) << i;
      // Rows and columns between the neighbours are read too, if a step is longer than 2.
      if (step_y <= 2 * n_y && step_x <= 2 * n_x) {
        ASSERT_EQ(read, needed) << i;
      }
    }
  }
}

/// docs/ethos-u.md, "Order and outstanding operations".
TEST(Jobs, SliceDepths) {
  struct Row {
    const char* config;
    Microblock microblock;
    uint32_t depth, part_kernel, bits16, sparse;
  };
  constexpr Row kRows[] = {
      {"ethos-u55-128", Microblock::k1x1, 32, 16, 16, 32},
      {"ethos-u65-512", Microblock::k1x1, 32, 16, 16, 32},
      {"ethos-u85-128", Microblock::k1x2, 64, 16, 64, 128},
      {"ethos-u85-128", Microblock::k1x1, 32, 16, 32, 128},
      {"ethos-u85-256", Microblock::k1x2, 32, 16, 32, 128},
      {"ethos-u85-256", Microblock::k1x4, 64, 16, 64, 128},
      {"ethos-u85-512", Microblock::k2x2, 64, 16, 64, 128},
      {"ethos-u85-2048", Microblock::k4x4, 64, 16, 64, 128},
  };
  for (const Row& row : kRows) {
    const Config& config = *find_config(row.config);
    KernelOperation operation;
    operation.code = Operation::CONV;
    operation.microblock = row.microblock;
    operation.ifm.bits = 8;
    EXPECT_EQ(ifm_slice_depth(config, operation), row.depth) << row.config;
    operation.sparse = true;
    EXPECT_EQ(ifm_slice_depth(config, operation), row.sparse) << row.config;
    operation.sparse = false;
    operation.ifm.bits = 16;
    EXPECT_EQ(ifm_slice_depth(config, operation), row.bits16) << row.config;
    operation.ifm.bits = 8;
    operation.kernel.part_kernel_first = true;
    EXPECT_EQ(ifm_slice_depth(config, operation), row.part_kernel) << row.config;
  }
}

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
