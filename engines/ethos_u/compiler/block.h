// SPDX-License-Identifier: Apache-2.0
#pragma once
// Block configuration: the part of an OFM that the NPU computes at a time, and which sizes are
// legal.
//
// The internal memory must hold two IFM blocks and two blocks of accumulators (U55, U65: banks of
// the SHRAM; U85: one RAM for each). docs/ethos-u.md, "Blocks".

#include <cstdint>
#include <functional>
#include <vector>

#include "engines/ethos_u/compiler/npu_op.h"
#include "engines/ethos_u/isa/costs.h"

namespace thimble::engine::ethos_u {

using thimble::ethos_u::BlockUser;
using thimble::ethos_u::Config;
using thimble::ethos_u::Generation;
using thimble::ethos_u::Microblocks;

/// Properties of an operation that determine its blocks and cost. The heights of `ofm` and `ifm`
/// may be the height of one tile of a cascade.
struct OpShape {
  NpuOpKind kind = NpuOpKind::kConv;
  PoolMode pool = PoolMode::kMax;
  ElementwiseMode elementwise = ElementwiseMode::kAdd;
  Shape4 ifm, ifm2, ofm;
  bool binary = false;  // ifm2 is a feature map in memory
  bool scalar = false;
  bool dynamic_weights = false;  // U85: ifm2 contains the weights
  int ifm_bits = 8, ofm_bits = 8;
  Window window;
  Upscale upscale = Upscale::kNone;
  bool table = false;
  /// U85: the OFM's axes have another order in memory; `swapped`: its innermost axis is the height.
  bool transposed = false, swapped = false;
  bool wide_accumulator = false;
  bool sparse = false;  // U85: 2:4 weights, half the steps
  int fast_rate = 0;    // U85: weights a cycle of the fast format; 0 = the standard one
  int64_t resize_n = 1, resize_d = 1;  // of the width

  [[nodiscard]] bool is_reduce_sum() const {
    return kind == NpuOpKind::kPool && pool == PoolMode::kReduceSum;
  }
};
[[nodiscard]] OpShape shape_of(const NpuOp& op);

struct Block {
  int64_t h = 1, w = 1, d = 1;  // of the OFM
  int64_t ifm_h = 1, ifm_w = 1, ifm_d = 1;
  Microblocks microblock{};
  bool part_kernel_first = false;
  bool double_buffered = true;  // U85: two blocks fit; always true on the others
  uint8_t ib_end = 0, ib2_start = 0, ab_start = 0;  // SHRAM banks, U55 and U65
};

/// The constants of a block search: one of the operation's weight orders and, on the U85, one
/// microblock.
struct BlockFamily {
  Microblocks microblock{};
  bool part_kernel_first = false;
};
[[nodiscard]] std::vector<BlockFamily> block_families(const Config& config, const OpShape& shape);

/// Possible sizes of the OFM block along each axis, in ascending order.
struct BlockSizes {
  std::vector<int64_t> heights, widths, depths;
};
[[nodiscard]] BlockSizes block_sizes(const Config& config, const OpShape& shape,
                                     const BlockFamily& family);

/// Returns true if the block fits; sets all fields except h, w, d.
[[nodiscard]] bool fit_block(const Config& config, const OpShape& shape, const BlockFamily& family,
                             Block* block);

/// Returns the rows (columns) of the IFM that `ofm` rows (columns) of the OFM need.
[[nodiscard]] int64_t input_size(int64_t ofm, int64_t stride, int64_t dilated_kernel,
                                 Upscale upscale);

}  // namespace thimble::engine::ethos_u
