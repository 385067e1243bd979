// SPDX-License-Identifier: Apache-2.0
// Results that overlap their operands. The test simulates, byte by byte, a kernel with only the
// promised order: each row (or block) of the result is written before the row's operands are read.

#include "engines/cortex_m/compiler/lead.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/engine.h"
#include "ir_random_graph.h"
#include "memory/memory_plan.h"

namespace thimble::engine::cortex_m {
namespace {

/// Returns true if operand bytes from `begin` do not overlap the result's first `written` bytes.
bool intact(int64_t lead, int64_t written, int64_t begin) {
  // The operand starts at `lead`. The result starts at 0 and is written upwards.
  return written <= lead + begin;
}

bool rows_survive(const Rows& rows, int64_t lead) {
  for (int64_t r = 0; r < rows.out_rows; ++r) {
    const int64_t top = std::max<int64_t>(0, r * rows.stride - rows.pad_top);
    for (int64_t i = top; i < rows.in_rows; ++i) {
      if (!intact(lead, (r + 1) * rows.out_row_bytes, i * rows.in_row_bytes)) return false;
    }
  }
  return true;
}

/// A block may start at any pixel and has at most kBlockPixels pixels.
bool pixels_survive(int64_t pixels, int64_t in_bytes, int64_t out_bytes, int64_t lead) {
  for (int64_t p = 0; p < pixels; ++p) {
    const int64_t end = std::min(p + kBlockPixels, pixels);
    if (!intact(lead, end * out_bytes, p * in_bytes)) return false;
  }
  return true;
}

TEST(Overlap, LeadOfRowsIsSufficientAndMinimal) {
  test::Random random(1);
  int partial = 0;
  for (int i = 0; i < 20000; ++i) {
    Rows rows;
    rows.in_rows = random.between(1, 12);
    rows.stride = random.between(1, 4);
    rows.pad_top = random.between(0, 3);
    const int64_t kernel = random.between(1, 5);
    rows.out_rows =
        std::max<int64_t>(1, (rows.in_rows + 2 * rows.pad_top - kernel) / rows.stride + 1);
    rows.in_row_bytes = random.between(1, 40);
    rows.out_row_bytes = random.between(1, 40);
    const int64_t lead = lead_of_rows(rows);
    ASSERT_GT(lead, 0);
    ASSERT_TRUE(rows_survive(rows, lead)) << i;
    // A window that starts below the image reads nothing from it.
    const bool reads = (rows.out_rows - 1) * rows.stride - rows.pad_top < rows.in_rows;
    if (reads) {
      ASSERT_FALSE(rows_survive(rows, lead - 1)) << i;
    }
    partial += lead < rows.out_rows * rows.out_row_bytes ? 1 : 0;
  }
  EXPECT_GT(partial, 5000);
}

TEST(Overlap, LeadOfPixelsIsSufficientAndMinimal) {
  for (int64_t pixels = 1; pixels <= 40; ++pixels) {
    for (int64_t in = 1; in <= 20; ++in) {
      for (int64_t out = 1; out <= 20; ++out) {
        const int64_t lead = lead_of_pixels(pixels, in, out);
        ASSERT_TRUE(pixels_survive(pixels, in, out, lead)) << pixels << " " << in << " " << out;
        ASSERT_FALSE(pixels_survive(pixels, in, out, lead - 1))
            << pixels << " " << in << " " << out;
      }
    }
  }
}

ir::Type image(int64_t channels, int64_t height, int64_t width) {
  ir::Type type;
  type.dtype = ir::DType::kI8;
  type.shape = {1, channels, height, width};
  type.dim_order = ir::channels_last_order();
  type.quant = ir::Quant{{1.0}, {0}, -1};
  return type;
}

/// x -> max pool 3x3 -> max pool 3x3 -> max pool 3x3, all of one size.
TEST(Overlap, PlanWithOverlapsIsSmallerAndValid) {
  ir::Graph graph;
  ir::ValueId value = graph.add_input("x", image(8, 20, 20));
  for (int i = 0; i < 3; ++i) {
    const auto next = graph.add(ir::OpKind::max_pool2d, {value},
                                {{ir::attr::kernel, std::vector<int64_t>{3, 3}},
                                 {ir::attr::stride, std::vector<int64_t>{1, 1}},
                                 {ir::attr::padding, std::vector<int64_t>{1, 1, 1, 1}},
                                 {ir::attr::dilation, std::vector<int64_t>{1, 1}}},
                                {}, {"", ir::channels_last_order(), {}});
    ASSERT_TRUE(next.ok()) << next.error().message;
    value = *next;
  }
  graph.add_output(value);
  const auto target = find_core("cortex-m4");
  ASSERT_TRUE(target.ok());
  const auto lowered = (*target)->lower(graph, **target, {});
  ASSERT_TRUE(lowered.ok()) << lowered.error().message;
  const memory::MemoryPlan memory_plan = memory::plan_memory(*lowered);
  EXPECT_EQ(memory_plan.overlaps.size(), 2U);
  constexpr int64_t kRow = 8 * 20, kImage = 20 * kRow;
  // Two results each start two rows below their operand.
  EXPECT_LE(memory_plan.placement.peak_bytes, kImage + 4 * kRow);
  EXPECT_TRUE(memory_plan.placement.proven_minimal());
  std::vector<memory::Buffer> buffers;
  for (const memory::ArenaRange& range : memory_plan.ranges) buffers.push_back(range.buffer);
  EXPECT_TRUE(memory::is_valid(buffers, memory_plan.placement, memory_plan.overlaps));
  EXPECT_FALSE(memory::is_valid(buffers, memory_plan.placement));
}

}  // namespace
}  // namespace thimble::engine::cortex_m
