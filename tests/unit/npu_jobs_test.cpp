// SPDX-License-Identifier: Apache-2.0
// Footprints of feature maps and the jobs of a kernel, compared with sets of bytes.

#include "engines/ethos_u/sim/jobs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>

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

}  // namespace
}  // namespace thimble::ethos_u::sim
