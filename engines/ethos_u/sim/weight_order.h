// SPDX-License-Identifier: Apache-2.0
#pragma once
// The order in which the MAC array reads the weights of one block of output channels.

#include <stdint.h>

#include "engines/ethos_u/isa/config.h"
#include "engines/ethos_u/sim/operation.h"

namespace thimble::ethos_u::sim {

/// Parameters of the loop nest, computed from the registers. On the U85 `micro_depth` is that of
/// the microblock in ACC_FORMAT; the others have one microblock.
struct WeightLoops {
  bool u85 = false;
  bool depthwise = false, part_kernel = false, sparse = false;
  uint32_t cores = 1;              // number of cores that share the output channels
  uint32_t micro_depth = 8;        // output channels of a microblock
  uint32_t in = 1;                 // input channels that have weights
  uint32_t in_block = 32;          // input channels of the inner loops
  uint32_t in_micro = 8;           // input channels per traversal of the output microblocks
  uint32_t in_step = 8;            // consecutive input channels
  uint32_t round = 1;              // the number of kernel elements is padded to a multiple of this
  uint32_t padding = 0;            // U85 depthwise: padding elements after each such group
  uint32_t height = 1, width = 1;  // of the kernel
  uint32_t sub_height = 8, sub_width = 8;  // of a sub-kernel
  uint32_t stride_y = 1, stride_x = 1;     // kernel elements are grouped by these strides
};

/// Returns false if the operation has no weights that this configuration can read.
[[nodiscard]] bool weight_loops(const Config& config, const KernelOperation& operation,
                                WeightLoops* loops);

/// Returns the number of consecutive weights of one core in a stream shared by all cores (FWD).
[[nodiscard]] uint32_t shared_piece(const WeightLoops& loops);

/// Position of a weight in the stream of one core. Padding has inside = false.
struct WeightPlace {
  bool inside = false;
  uint32_t out = 0;  // channel in the block, counted over all cores
  uint32_t y = 0, x = 0, in = 0;
};

/// Receives the positions in the order of the stream; returning false ends the traversal.
struct WeightVisitor {
  void* user = nullptr;
  bool (*visit)(void* user, const WeightPlace& place) = nullptr;
};

/// Visits the weights that `core` reads for block `block` of `channels` output channels. Returns
/// true if the visitor did not end the traversal.
[[nodiscard]] bool traverse_weights(const WeightLoops& loops, uint32_t core, uint32_t block,
                                    uint32_t channels, const WeightVisitor& visitor);

}  // namespace thimble::ethos_u::sim
