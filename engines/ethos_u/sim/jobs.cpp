// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/sim/jobs.h"

namespace thimble::ethos_u::sim {
namespace {

uint64_t pieces(uint32_t size, uint32_t step) {
  return (uint64_t{size} + step - 1) / step;
}

/// Returns true if every IFM channel contributes to every OFM channel.
bool mixes_channels(const KernelOperation& operation) {
  return operation.code == Operation::CONV ||
         (operation.code == Operation::POOL &&
          operation.mode == static_cast<uint16_t>(PoolMode::kReduceSum));
}

/// Computes the positions of the IFM that outputs [begin, end) of an axis read, without padding.
void window(uint32_t begin, uint32_t end, uint32_t stride, uint32_t size, uint32_t dilation,
            uint32_t pad, Upscale upscale, uint32_t limit, uint32_t* low, uint32_t* high) {
  int64_t first = int64_t{begin} * stride - pad;
  int64_t last = (int64_t{end} - 1) * stride - pad + int64_t{size - 1} * dilation;
  if (first < 0) first = 0;
  if (last < 0) last = -1;
  if (upscale != Upscale::kNone) {
    first = first / 2;
    last = last < 0 ? -1 : last / 2;
  }
  *low = first > limit ? limit : static_cast<uint32_t>(first);
  *high = last + 1 > limit ? limit : static_cast<uint32_t>(last + 1);
}

void resize_window(uint32_t begin, uint32_t end, uint32_t one, uint32_t one_mod, uint32_t n,
                   int32_t offset, uint32_t limit, uint32_t* low, uint32_t* high) {
  const int64_t step = int64_t{one} * n + one_mod;  // numerator of one step
  const auto position = [&](uint32_t at) {
    const int64_t value = int64_t{at} * step + offset;
    return value < 0 ? int64_t{-1} : value / n;
  };
  int64_t first = position(begin);
  int64_t last = position(end - 1) + 1;  // the second neighbour of a bilinear position
  if (first < 0) first = 0;
  *low = first >= limit ? limit - 1 : static_cast<uint32_t>(first);
  *high = last >= limit ? limit : static_cast<uint32_t>(last + 1);
}

void one_if_broadcast(bool broadcast, uint32_t* begin, uint32_t* end) {
  if (broadcast) *begin = 0, *end = 1;
}

Box broadcast_box(Box box, uint8_t broadcast) {
  one_if_broadcast((broadcast & 1U) != 0, &box.y0, &box.y1);
  one_if_broadcast((broadcast & 2U) != 0, &box.x0, &box.x1);
  one_if_broadcast((broadcast & 4U) != 0, &box.c0, &box.c1);
  return box;
}

}  // namespace

Microblocks microblock_of(const Config& config, const KernelOperation& operation) {
  static constexpr uint8_t kSizes[6][2] = {{1, 1}, {1, 2}, {1, 4}, {2, 2}, {2, 4}, {4, 4}};
  const uint8_t* size = kSizes[static_cast<unsigned>(operation.microblock)];
  const Microblocks* first = nullptr;
  for (const MicroblockRow& row : kMicroblocks) {
    if (!same_text(row.config, config.name)) continue;
    if (first == nullptr) first = &row.block;
    if (config.generation != Generation::kU85) break;
    if (row.block.height == size[0] && row.block.width == size[1]) return row.block;
  }
  return first == nullptr ? Microblocks{1, 1, 8} : *first;
}

uint32_t ifm_slice_depth(const Config& config, const KernelOperation& operation) {
  const bool part = operation.kernel.part_kernel_first;
  if (config.generation != Generation::kU85) {
    if (operation.ifm.bits == 32) return 8;
    return part || operation.ifm.bits == 16 ? 16 : 32;
  }
  if (part) return 16;
  if (operation.sparse && operation.ifm.bits == 8) return 128;
  const bool small =
      config.macs <= 256 && microblock_of(config, operation).depth == 16 && !operation.sparse;
  return small || operation.ifm.bits == 32 ? 32 : 64;
}

Jobs::Jobs(const Config& config, const KernelOperation& operation) : operation_(operation) {
  const FeatureMap& ofm = operation.ofm;
  rows_ = pieces(ofm.height, operation.block_height);
  columns_ = pieces(ofm.width, operation.block_width);
  depths_ = pieces(ofm.depth, operation.block_depth);
  if (!mixes_channels(operation)) return;
  slice_depth_ = ifm_slice_depth(config, operation);
  slices_ = static_cast<uint32_t>(pieces(operation.ifm.depth, slice_depth_));
}

Box Jobs::block(uint64_t index) const {
  const auto c = static_cast<uint32_t>(index % depths_) * operation_.block_depth;
  const auto x = static_cast<uint32_t>(index / depths_ % columns_) * operation_.block_width;
  const auto y = static_cast<uint32_t>(index / depths_ / columns_) * operation_.block_height;
  const auto end = [](uint32_t begin, uint32_t step, uint32_t limit) {
    return limit - begin < step ? limit : begin + step;
  };
  return {y, end(y, operation_.block_height, operation_.ofm.height),
          x, end(x, operation_.block_width, operation_.ofm.width),
          c, end(c, operation_.block_depth, operation_.ofm.depth)};
}

uint64_t Jobs::block_of(uint32_t y, uint32_t x, uint32_t c) const {
  return (y / operation_.block_height * columns_ + x / operation_.block_width) * depths_ +
         c / operation_.block_depth;
}

Box Jobs::ifm_box(const Box& block, uint32_t slice) const {
  const FeatureMap& ifm = operation_.ifm;
  const Kernel& kernel = operation_.kernel;
  if (operation_.code == Operation::ELEMENTWISE) {
    return broadcast_box(block, operation_.broadcast);
  }
  Box box = block;
  if (operation_.code == Operation::RESIZE) {
    resize_window(block.y0, block.y1, operation_.resize_one_step_y,
                  operation_.resize_one_step_mod_y, operation_.resize_n_y,
                  operation_.resize_offset_y, ifm.height, &box.y0, &box.y1);
    resize_window(block.x0, block.x1, operation_.resize_one_step_x,
                  operation_.resize_one_step_mod_x, operation_.resize_n_x,
                  operation_.resize_offset_x, ifm.width, &box.x0, &box.x1);
  } else {
    window(block.y0, block.y1, kernel.stride_y, kernel.height, kernel.dilation_y, kernel.pad_top,
           operation_.upscale, ifm.height, &box.y0, &box.y1);
    window(block.x0, block.x1, kernel.stride_x, kernel.width, kernel.dilation_x, kernel.pad_left,
           operation_.upscale, ifm.width, &box.x0, &box.x1);
  }
  if (slice_depth_ != 0) {
    box.c0 = slice * slice_depth_;
    box.c1 = ifm.depth - box.c0 < slice_depth_ ? ifm.depth : box.c0 + slice_depth_;
  }
  if (box.c1 > ifm.depth) box.c1 = ifm.depth;
  return box;
}

Box Jobs::ifm2_box(const Box& block, uint32_t slice) const {
  if (operation_.code == Operation::ELEMENTWISE) {
    return broadcast_box(block, operation_.broadcast2);
  }
  if (operation_.code == Operation::CONV && operation_.mode == 1) {
    (void)slice;  // the fetch order of these weights is not published
    return whole(operation_.ifm2);
  }
  return block;  // initial values of the accumulators
}

void Jobs::reads(uint64_t index, Footprint* footprint) const {
  const Box box = block(index / slices_);
  const auto slice = static_cast<uint32_t>(index % slices_);
  if (operation_.broadcast != 8) add_box(operation_.ifm, ifm_box(box, slice), footprint);
  if (operation_.has_ifm2 && !operation_.ifm2_scalar) {
    add_box(operation_.ifm2, ifm2_box(box, slice), footprint);
  }
}

}  // namespace thimble::ethos_u::sim
