#pragma once
// The order in which the multipliers want the weights of one block of output channels.

#include <stdint.h>

#include "engines/ethos_u/isa/config.h"
#include "engines/ethos_u/sim/operation.h"

namespace thimble::ethos_u::sim {

/// Numbers of the loops, from the registers. On the U85 `micro_depth` is that of the micro-block
/// that ACC_FORMAT names; the others have one.
struct WeightLoops {
  bool u85 = false;
  bool depthwise = false, part_kernel = false, sparse = false;
  uint32_t cores = 1;                      // that share the output channels
  uint32_t micro_depth = 8;                // output channels of a micro-block
  uint32_t in = 1;                         // input channels that have weights
  uint32_t in_block = 32;                  // input channels that stay in the inner loops
  uint32_t in_micro = 8;                   // input channels between two micro-blocks of the output
  uint32_t in_step = 8;                    // input channels in a row
  uint32_t round = 1;                      // kernel elements are padded to a multiple
  uint32_t padding = 0;                    // depthwise on the U85: elements behind each such group
  uint32_t height = 1, width = 1;          // of the kernel
  uint32_t sub_height = 8, sub_width = 8;  // of the parts it is cut into
  uint32_t stride_y = 1, stride_x = 1;     // by which kernel elements are grouped
};

/// False if the operation has no weights that this configuration can read.
[[nodiscard]] bool weight_loops(const Config& config, const KernelOperation& operation,
                                WeightLoops* loops);

/// Weights of one core that stand in a row in a stream that all cores share (FWD).
[[nodiscard]] uint32_t shared_piece(const WeightLoops& loops);

/// A place in the stream of one core. Padding has inside = false.
struct WeightPlace {
  bool inside = false;
  uint32_t out = 0;  // channel in the block, all cores counted
  uint32_t y = 0, x = 0, in = 0;
};

/// Receives the places in the order of the stream; false ends the walk.
struct WeightVisitor {
  void* user = nullptr;
  bool (*visit)(void* user, const WeightPlace& place) = nullptr;
};

/// Walks what `core` reads for block `block` of `channels` output channels. True if it came to the
/// end.
[[nodiscard]] bool walk_weights(const WeightLoops& loops, uint32_t core, uint32_t block,
                                uint32_t channels, const WeightVisitor& visitor);

}  // namespace thimble::ethos_u::sim
