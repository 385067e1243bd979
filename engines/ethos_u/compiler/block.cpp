// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/block.h"

#include <algorithm>

#include "base/rounding.h"

namespace thimble::engine::ethos_u {
namespace {

using thimble::ethos_u::find_row;
using thimble::ethos_u::Granules;
using thimble::ethos_u::kGranules;
using thimble::ethos_u::kMicroblockUses;

constexpr int64_t kBank = 1024;
constexpr int64_t kOutputBanks = 2;
constexpr int64_t kTableBanks = 2;
constexpr int64_t kBrick = 16;     // channels of a brick; block depths are divided between bricks
constexpr int64_t kSubKernel = 8;  // maximum height and width of a sub-kernel
constexpr int64_t kChainingSlots = 6;  // U85

/// Depth of the IFM block is that of the OFM block.
bool is_equal_depth(const OpShape& shape) {
  return shape.kind != NpuOpKind::kConv && !shape.is_reduce_sum();
}

BlockUser user_of(const OpShape& shape, bool part_kernel_first) {
  using namespace thimble::ethos_u;
  switch (shape.kind) {
    case NpuOpKind::kConv: {
      if (shape.dynamic_weights) return kUseMatmul;
      const bool one = shape.window.kernel_h == 1 && shape.window.kernel_w == 1;
      return one && !part_kernel_first ? kUseConv1x1 : kUseConv;
    }
    case NpuOpKind::kDepthwise:
      return kUseDepthwise;
    case NpuOpKind::kPool:
      return shape.is_reduce_sum() ? kUseReduceSum : kUsePool;
    case NpuOpKind::kElementwise:
      return kUseElementwise;
    case NpuOpKind::kResize:
      return kUseResize;
    case NpuOpKind::kDma:
      break;
  }
  return kUseElementwise;
}

/// Allocation unit of the IFM RAM of the U85, by microblock and bits of the block's depth.
struct Unit {
  int64_t h, w, d;
};
Unit ifm_unit(const Config& config, const Microblocks& microblock, int64_t depth, int bits) {
  const int64_t depth_bits = depth * bits;
  const int level = depth_bits > 256 ? 2 : depth_bits > 128 ? 1 : 0;  // depth of 1, 2 or 4 bricks
  const bool flat = microblock.height == 1 && microblock.width == 4;
  Unit unit{};
  switch (config.macs) {
    case 128:
      unit = level == 0 ? Unit{1, 2, 1} : Unit{1, 1, 2};
      break;
    case 256:
    case 512:
      unit = level == 0   ? (flat ? Unit{1, 4, 1} : Unit{2, 2, 1})
             : level == 1 ? Unit{1, 2, 2}
                          : Unit{1, 1, 4};
      break;
    case 1024:
      unit = level == 0   ? Unit{2, 4, 1}
             : level == 1 ? (flat ? Unit{1, 4, 2} : Unit{2, 2, 2})
                          : Unit{1, 2, 4};
      break;
    default:
      unit = level == 0   ? Unit{4, 4, 1}
             : level == 1 ? Unit{2, 4, 2}
                          : (flat ? Unit{1, 4, 4} : Unit{2, 2, 4});
      break;
  }
  unit.d = unit.d * 128 / bits;
  return unit;
}

int64_t ifm_block_depth_85(const Config& config, const OpShape& shape, const BlockFamily& family,
                           int64_t ofm_depth) {
  if (is_equal_depth(shape)) return ofm_depth;
  if (family.part_kernel_first) return 16;
  if (shape.sparse) return shape.ifm_bits == 8 ? 128 : 64;
  const bool small = config.macs <= 256 && family.microblock.depth == 16;
  return shape.ifm_bits == 32 || small ? 32 : 64;
}

bool fit_elementwise_85(const Config& config, const OpShape& shape, const BlockFamily& family,
                        const Block& block) {
  const int64_t bytes = shape.ifm_bits / 8;
  const int64_t bricks = config.chaining_buffer / kChainingSlots / (kBrick * bytes);
  const auto less = [&](int64_t Shape4::*axis) {
    return shape.binary &&
           (shape.ifm.*axis < shape.ofm.*axis || shape.ifm2.*axis < shape.ofm.*axis);
  };
  if (less(&Shape4::c)) {
    return block.h <= family.microblock.height && block.w <= bricks / family.microblock.height;
  }
  if (less(&Shape4::h)) {
    return block.w * divide_up(block.d, kBrick) <= bricks / family.microblock.height;
  }
  return block.w * block.d * bytes <= config.output_buffer;
}

bool fit_85(const Config& config, const OpShape& shape, const BlockFamily& family, Block* block) {
  block->ifm_d = ifm_block_depth_85(config, shape, family, block->d);
  const Window& window = shape.window;
  const int64_t dilated_h = (window.kernel_h - 1) * window.dilation_h + 1;
  const int64_t dilated_w = (window.kernel_w - 1) * window.dilation_w + 1;
  block->ifm_h =
      input_size(block->h, window.stride_h, std::min(dilated_h, kSubKernel), shape.upscale);
  block->ifm_w =
      input_size(block->w, window.stride_w, std::min(dilated_w, kSubKernel), shape.upscale);
  if (shape.kind == NpuOpKind::kElementwise) {
    return fit_elementwise_85(config, shape, family, *block);
  }
  if (shape.kind == NpuOpKind::kResize) {
    const int64_t bricks = config.chaining_buffer / kChainingSlots / (kBrick * shape.ifm_bits / 8);
    const int64_t width =
        std::max<int64_t>(1, divide_up((bricks - 2) * shape.resize_n + 1, shape.resize_d));
    return block->h == 1 && block->d <= 16 && block->w <= width;
  }
  const Unit unit = ifm_unit(config, family.microblock, block->ifm_d, shape.ifm_bits);
  block->ifm_h = round_up(block->ifm_h, unit.h);
  block->ifm_w = round_up(block->ifm_w, unit.w);
  const int64_t depth =
      is_equal_depth(shape) ? block->d : std::min(block->ifm_d, round_up(shape.ifm.c, unit.d));
  const int64_t ifm_bytes =
      block->ifm_h * block->ifm_w * round_up(depth, unit.d) * shape.ifm_bits / 8;
  const int64_t accumulator = shape.wide_accumulator ? 8 : 4;
  const int64_t accumulator_bytes = block->h * block->w * round_up(block->d, kBrick) * accumulator;
  const auto fits = [&](int64_t buffers) {
    return ifm_bytes * buffers <= int64_t{config.ifm_ram} &&
           accumulator_bytes * buffers <= int64_t{config.accumulator_ram};
  };
  block->double_buffered = fits(2);
  return fits(1);
}

int64_t ifm_granule(const Granules& granules, const OpShape& shape) {
  if (shape.ifm_bits == 32) return granules.wide32;
  if (shape.kind == NpuOpKind::kElementwise) {
    return shape.ifm_bits == 16 ? granules.elementwise16 : granules.elementwise8;
  }
  return shape.ifm_bits == 16 ? granules.ifm16 : granules.ifm8;
}

bool fit_556(const Config& config, const OpShape& shape, const BlockFamily& family, Block* block) {
  const Granules& granules = *find_row(kGranules, config.name);
  const Window& window = shape.window;
  const int64_t dilated_h = (window.kernel_h - 1) * window.dilation_h + 1;
  const int64_t dilated_w = (window.kernel_w - 1) * window.dilation_w + 1;
  block->ifm_h = round_up(
      input_size(block->h, window.stride_h, std::min(dilated_h, kSubKernel), shape.upscale),
      family.microblock.height);
  block->ifm_w = round_up(
      input_size(block->w, window.stride_w, std::min(dilated_w, kSubKernel), shape.upscale),
      family.microblock.width);
  if (is_equal_depth(shape)) {
    block->ifm_d = block->d;
  } else if (shape.ifm_bits == 16) {
    block->ifm_d = round_up(std::min<int64_t>(shape.ifm.c, 16), 4);
  } else {
    block->ifm_d = round_up(std::min<int64_t>(shape.ifm.c, family.part_kernel_first ? 16 : 32), 8);
  }
  const int64_t ifm_bytes =
      block->ifm_h * block->ifm_w * round_up(block->ifm_d * shape.ifm_bits / 8, 8);
  const int64_t ifm_banks = round_up(2 * divide_up(ifm_bytes, kBank), ifm_granule(granules, shape));
  const bool reserved = config.banks > 16;
  const int64_t top = config.banks - (reserved || shape.table ? kTableBanks : 0);
  const int64_t ifm_end = kOutputBanks + ifm_banks;
  block->ib2_start = static_cast<uint8_t>(ifm_end);
  if (shape.kind == NpuOpKind::kElementwise) {
    const int64_t second = shape.scalar && shape.ifm_bits <= 16 ? 0 : ifm_banks;
    block->ib_end = block->ab_start = static_cast<uint8_t>(top);
    return ifm_end + second <= top;
  }
  const int64_t bits = shape.wide_accumulator ? 40 : 32;
  const int64_t accumulator_bytes = block->h * block->w * round_up(block->d, 8) * bits / 8;
  const int64_t accumulator_banks =
      round_up(2 * divide_up(accumulator_bytes, kBank),
               shape.wide_accumulator ? granules.accumulator40 : granules.accumulator32);
  block->ib_end = static_cast<uint8_t>(ifm_end);
  block->ab_start = static_cast<uint8_t>(std::max<int64_t>(0, top - accumulator_banks));
  return ifm_end <= top - accumulator_banks;
}

/// Returns the possible block sizes along an axis: for each number of blocks the smallest size that
/// gives this number. A larger size would only need more memory.
std::vector<int64_t> steps(int64_t size, int64_t unit, int64_t limit) {
  std::vector<int64_t> sizes;
  for (int64_t count = 1; count <= divide_up(size, unit); ++count) {
    const int64_t at = round_up(divide_up(size, count), unit);
    if (at <= limit && (sizes.empty() || sizes.back() != at)) sizes.push_back(at);
  }
  std::reverse(sizes.begin(), sizes.end());
  return sizes;
}

}  // namespace

int64_t input_size(int64_t ofm, int64_t stride, int64_t dilated_kernel, Upscale upscale) {
  const int64_t upscaled = (ofm - 1) * stride + dilated_kernel;
  if (upscale == Upscale::kNone) return upscaled;
  return divide_up(upscaled + (upscale == Upscale::kNearest ? 1 : 0), 2);
}

OpShape shape_of(const NpuOp& op) {
  OpShape shape;
  shape.kind = op.kind;
  shape.pool = op.pool;
  shape.elementwise = op.elementwise;
  shape.ifm = op.ifm.shape;
  shape.ofm = op.ofm.shape;
  shape.binary = op.ifm2.has_value();
  if (op.ifm2) shape.ifm2 = op.ifm2->shape;
  shape.scalar = op.scalar.has_value();
  shape.dynamic_weights = op.kind == NpuOpKind::kConv && !op.weights;
  const bool through_accumulator = op.kind == NpuOpKind::kPool && op.pool == PoolMode::kNone;
  shape.ifm_bits = through_accumulator ? 8 : op.ifm.element.bits;
  shape.ofm_bits = op.ofm.element.bits;
  if (op.kind != NpuOpKind::kElementwise && op.kind != NpuOpKind::kResize) shape.window = op.window;
  shape.upscale = op.upscale;
  shape.table = op.table.kind != Table::Kind::kNone && !op.table.content.empty();
  shape.transposed = op.transpose != Transpose::kHwc;
  shape.swapped = op.transpose == Transpose::kWch || op.transpose == Transpose::kCwh ||
                  op.transpose == Transpose::kWhc;
  shape.wide_accumulator = op.wide_accumulator;
  if (op.resize_steps) {
    shape.resize_n = op.resize_steps->n_w;
    shape.resize_d = op.resize_steps->d_w;
  }
  return shape;
}

std::vector<BlockFamily> block_families(const Config& config, const OpShape& shape) {
  std::vector<bool> orders = {false};
  // Part-kernel-first exists only for convolutions with static weights and at most 16 bits.
  if (shape.kind == NpuOpKind::kConv && !shape.dynamic_weights) orders.push_back(true);
  std::vector<BlockFamily> families;
  for (const bool order : orders) {
    if (config.generation != Generation::kU85) {
      for (const auto& row : thimble::ethos_u::kMicroblocks) {
        if (thimble::ethos_u::same_text(row.config, config.name)) {
          families.push_back({row.block, order});
        }
      }
      continue;
    }
    for (const auto& row : kMicroblockUses) {
      const uint16_t users = shape.ifm_bits == 8    ? row.users8
                             : shape.ifm_bits == 16 ? row.users16
                                                    : row.users32;
      if (thimble::ethos_u::same_text(row.config, config.name) &&
          (users & user_of(shape, order)) != 0) {
        families.push_back({{row.height, row.width, row.depth}, order});
      }
    }
  }
  return families;
}

BlockSizes block_sizes(const Config& config, const OpShape& shape, const BlockFamily& family) {
  BlockSizes sizes;
  const Microblocks& unit = family.microblock;
  if (config.generation != Generation::kU85) {
    sizes.heights = steps(shape.ofm.h, unit.height, 32);
    sizes.widths = steps(shape.ofm.w, unit.width, 64);
    // The depth is divided only between bricks.
    for (const int64_t d : steps(shape.ofm.c, unit.depth, 128)) {
      if (d >= shape.ofm.c || d % kBrick == 0) sizes.depths.push_back(d);
    }
    return sizes;
  }
  if (shape.kind == NpuOpKind::kResize) {
    sizes.heights = {1};
    sizes.widths = steps(shape.ofm.w, 1, 128);
    sizes.depths = {16};
    return sizes;
  }
  sizes.heights = steps(shape.ofm.h, unit.height, 128);
  sizes.widths = steps(shape.ofm.w, unit.width, 128);
  sizes.depths = steps(shape.ofm.c, std::max<int64_t>(unit.depth, kBrick), 1024);
  if (sizes.depths.empty()) sizes.depths = {std::max<int64_t>(unit.depth, kBrick)};
  return sizes;
}

bool fit_block(const Config& config, const OpShape& shape, const BlockFamily& family,
               Block* block) {
  block->microblock = family.microblock;
  block->part_kernel_first = family.part_kernel_first;
  return config.generation == Generation::kU85 ? fit_85(config, shape, family, block)
                                               : fit_556(config, shape, family, block);
}

}  // namespace thimble::engine::ethos_u
