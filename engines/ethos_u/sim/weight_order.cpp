// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/sim/weight_order.h"

namespace thimble::ethos_u::sim {
namespace {

constexpr uint32_t smaller(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}
constexpr uint32_t round_up(uint32_t value, uint32_t unit) {
  return (value + unit - 1) / unit * unit;
}

uint32_t blocks_high(Microblock block) {
  switch (block) {
    case Microblock::k1x1:
    case Microblock::k1x2:
    case Microblock::k1x4:
      return 1;
    case Microblock::k2x2:
    case Microblock::k2x4:
      return 2;
    case Microblock::k4x4:
      return 4;
  }
  return 0;
}

uint32_t blocks_wide(Microblock block) {
  switch (block) {
    case Microblock::k1x1:
      return 1;
    case Microblock::k1x2:
    case Microblock::k2x2:
      return 2;
    case Microblock::k1x4:
    case Microblock::k2x4:
    case Microblock::k4x4:
      return 4;
  }
  return 0;
}

/// Returns the depth of the microblock in use, 0 if the configuration has none of that shape.
uint32_t micro_depth(const Config& config, const KernelOperation& operation) {
  for (const MicroblockRow& row : kMicroblocks) {
    if (!same_text(row.config, config.name)) continue;
    if (config.generation != Generation::kU85) return row.block.depth;
    if (row.block.height == blocks_high(operation.microblock) &&
        row.block.width == blocks_wide(operation.microblock)) {
      return row.block.depth;
    }
  }
  return 0;
}

void loops_of_u55(const KernelOperation& operation, WeightLoops* loops) {
  const bool wide = operation.ifm.bits == 16;
  loops->cores = operation.cores;
  loops->in_block = loops->part_kernel || wide ? 16 : 32;
  loops->in_step = loops->depthwise ? 1 : 8;
  loops->in_micro = loops->part_kernel ? 8 : loops->in_block;
  loops->round = loops->depthwise ? 4 : loops->part_kernel ? (wide ? 2 : 4) : 1;
}

void loops_of_u85(const Config& config, const KernelOperation& operation, WeightLoops* loops) {
  const bool wide = operation.ifm.bits == 16;
  const bool sparse = loops->sparse;
  loops->u85 = true;
  loops->cores = config.cores;
  loops->in_step = loops->depthwise ? 1 : sparse ? 16 : 8;
  if (loops->depthwise) {
    loops->in_block = loops->in_micro = 1;
    loops->round = 10;
    loops->padding = !wide && config.macs <= 256 ? 0 : config.macs <= 512 ? 2 : 6;
  } else if (loops->part_kernel) {
    loops->in_block = 16;
    loops->in_micro = wide && !sparse ? 8 : 16;
    loops->round = wide || sparse ? 10 : 5;
  } else {
    loops->in_block = 64;
    if (operation.ifm.bits == 32 || (config.macs <= 256 && loops->micro_depth == 16 && !sparse)) {
      loops->in_block = 32;
    } else if (sparse && operation.ifm.bits == 8) {
      loops->in_block = 128;
    }
    loops->in_micro = loops->in_block;
  }
  if (loops->depthwise || loops->part_kernel) {
    loops->stride_y = operation.kernel.stride_y;
    loops->stride_x = operation.kernel.stride_x;
  }
}

/// A sub-kernel: kernel elements [y, y + height) x [x, x + width).
struct Part {
  uint32_t y = 0, x = 0, height = 0, width = 0;
};

class WeightTraversal {
 public:
  WeightTraversal(const WeightLoops& loops, uint32_t core, uint32_t channels,
                  const WeightVisitor& visitor)
      : loops_(loops), core_(core), channels_(channels), visitor_(visitor) {}

  bool u55();
  bool u85(uint32_t block);

 private:
  bool part_u55(const Part& part, uint32_t in_block);
  bool micro_u55(const Part& part, uint32_t in_block, uint32_t in_micro, uint32_t out);
  bool part_u85(const Part& part, uint32_t in_block);
  bool micro_u85(const Part& part, uint32_t in, uint32_t out);
  bool element_u85(uint32_t y, uint32_t x, uint32_t in, uint32_t out);
  bool zeros(uint64_t count);
  bool place(uint32_t out, uint32_t y, uint32_t x, uint32_t in, bool inside) {
    const WeightPlace at = {inside && out < channels_ && in < loops_.in, out, y, x, in};
    return visitor_.visit(visitor_.user, at);
  }

  const WeightLoops& loops_;
  uint32_t core_, channels_;
  const WeightVisitor& visitor_;
};

bool WeightTraversal::zeros(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    if (!visitor_.visit(visitor_.user, {})) return false;
  }
  return true;
}

// U55 and U65: core k has every n-th output channel. Sub-kernels are traversed row by row.

bool WeightTraversal::u55() {
  for (uint32_t in = 0; in < loops_.in; in += loops_.in_block) {
    for (uint32_t y = 0; y < loops_.height; y += loops_.sub_height) {
      for (uint32_t x = 0; x < loops_.width; x += loops_.sub_width) {
        const Part part = {y, x, smaller(loops_.height - y, loops_.sub_height),
                           smaller(loops_.width - x, loops_.sub_width)};
        if (!part_u55(part, in)) return false;
      }
    }
  }
  return true;
}

bool WeightTraversal::part_u55(const Part& part, uint32_t in_block) {
  // Part-kernel-first ends at the last input channel; the other orders traverse whole blocks.
  const uint32_t deep =
      loops_.part_kernel ? smaller(loops_.in_block, loops_.in - in_block) : loops_.in_micro;
  const uint32_t own = (channels_ + loops_.cores - 1 - core_) / loops_.cores;
  for (uint32_t in = 0; in < deep; in += loops_.in_micro) {
    for (uint32_t out = 0; out < own; out += loops_.micro_depth) {
      if (!micro_u55(part, in_block, in, out)) return false;
    }
  }
  return true;
}

bool WeightTraversal::micro_u55(const Part& part, uint32_t in_block, uint32_t in_micro,
                                uint32_t out) {
  const uint32_t elements = round_up(part.height * part.width, loops_.round);
  const uint32_t inner = loops_.depthwise ? 1 : loops_.in_micro;
  for (uint32_t element = 0; element < elements; ++element) {
    const uint32_t ky = element / part.width;
    const uint32_t kx = element % part.width;
    for (uint32_t step = 0; step < inner; step += loops_.in_step) {
      for (uint32_t o = 0; o < loops_.micro_depth; ++o) {
        for (uint32_t i = 0; i < loops_.in_step; ++i) {
          if (!place((out + o) * loops_.cores + core_, part.y + ky, part.x + kx,
                     in_block + in_micro + step + i, ky < part.height)) {
            return false;
          }
        }
      }
    }
  }
  return true;
}

// U85: groups of four output channels are assigned to the cores in turn. In every second block of
// output channels the input blocks are traversed in reverse. Sub-kernels are traversed column by
// column; the rows inside a sub-kernel alternate in direction.

bool WeightTraversal::u85(uint32_t block) {
  const uint32_t in_blocks = (loops_.in + loops_.in_block - 1) / loops_.in_block;
  for (uint32_t i = 0; i < in_blocks; ++i) {
    const uint32_t in = (block % 2 == 0 ? i : in_blocks - 1 - i) * loops_.in_block;
    for (uint32_t x = 0; x < loops_.width; x += loops_.sub_width) {
      for (uint32_t y = 0; y < loops_.height; y += loops_.sub_height) {
        const Part part = {y, x, smaller(loops_.height - y, loops_.sub_height),
                           smaller(loops_.width - x, loops_.sub_width)};
        if (!part_u85(part, in)) return false;
      }
    }
  }
  return true;
}

bool WeightTraversal::part_u85(const Part& part, uint32_t in_block) {
  const uint32_t deep = smaller(loops_.in_block, loops_.in - in_block);
  for (uint32_t in = 0; in < deep; in += loops_.in_micro) {
    for (uint32_t out = 0; out < channels_; out += loops_.micro_depth) {
      if (!micro_u85(part, in_block + in, out)) return false;
    }
  }
  return true;
}

bool WeightTraversal::micro_u85(const Part& part, uint32_t in, uint32_t out) {
  const uint32_t share = loops_.micro_depth / loops_.cores;
  uint32_t left = round_up(part.height * part.width, loops_.round);
  for (uint32_t ty = 0; ty < loops_.stride_y; ++ty) {
    const uint32_t rows = (part.height + loops_.stride_y - 1 - ty) / loops_.stride_y;
    for (uint32_t tx = 0; tx < loops_.stride_x; ++tx) {
      const uint32_t columns = (part.width + loops_.stride_x - 1 - tx) / loops_.stride_x;
      for (uint32_t element = 0; element < rows * columns; ++element) {
        const uint32_t row = element / columns;
        const uint32_t turn = element % columns;
        const uint32_t column = row % 2 == 0 ? turn : columns - 1 - turn;
        --left;
        if (!element_u85(part.y + ty + row * loops_.stride_y,
                         part.x + tx + column * loops_.stride_x, in, out)) {
          return false;
        }
        if (left % loops_.round == 0 && !zeros(uint64_t{loops_.padding} * share)) return false;
      }
    }
  }
  if (left == 0) return true;
  return zeros((uint64_t{left} + loops_.padding) * loops_.in_micro * share);
}

bool WeightTraversal::element_u85(uint32_t y, uint32_t x, uint32_t in, uint32_t out) {
  constexpr uint32_t kTurn = 4;
  for (uint32_t step = 0; step < loops_.in_micro; step += loops_.in_step) {
    for (uint32_t first = core_ * kTurn; first < loops_.micro_depth;
         first += kTurn * loops_.cores) {
      for (uint32_t o = first; o < first + kTurn; ++o) {
        for (uint32_t i = 0; i < loops_.in_step; ++i) {
          if (!place(out + o, y, x, in + step + i, true)) return false;
        }
      }
    }
  }
  return true;
}

}  // namespace

bool weight_loops(const Config& config, const KernelOperation& operation, WeightLoops* loops) {
  const Kernel& kernel = operation.kernel;
  const bool u85 = config.generation == Generation::kU85;
  *loops = {};
  loops->depthwise = operation.code == Operation::DEPTHWISE;
  if (!loops->depthwise && (operation.code != Operation::CONV || operation.mode != 0)) return false;
  loops->sparse = u85 && operation.sparse;
  if (loops->depthwise && (loops->sparse || (u85 && operation.fast_weights))) return false;
  loops->part_kernel = kernel.part_kernel_first && !loops->depthwise;
  loops->micro_depth = micro_depth(config, operation);
  loops->in = loops->depthwise ? 1 : operation.ifm.depth;
  loops->height = kernel.height;
  loops->width = kernel.width;
  if (loops->micro_depth == 0 || operation.block_depth == 0 || kernel.stride_y == 0 ||
      kernel.stride_x == 0 || kernel.dilation_y < 1 || kernel.dilation_y > 2 ||
      kernel.dilation_x < 1 || kernel.dilation_x > 2 || kernel.height > 65536 ||
      kernel.width > 65536) {
    return false;
  }
  const uint32_t part = kernel.decomposition_4x4 && !u85 ? 4 : 8;
  loops->sub_height = part / kernel.dilation_y;
  loops->sub_width = part / kernel.dilation_x;
  if (u85) {
    loops_of_u85(config, operation, loops);
  } else {
    loops_of_u55(operation, loops);
  }
  if (loops->cores < 1 || loops->cores > config.cores) return false;
  // If the cores did not share a block evenly, the next block would start at another core.
  return u85 || operation.block_depth % loops->cores == 0 ||
         operation.block_depth >= operation.ofm.depth;
}

uint32_t shared_piece(const WeightLoops& loops) {
  return loops.micro_depth * loops.in_micro * loops.round / loops.cores;
}

bool traverse_weights(const WeightLoops& loops, uint32_t core, uint32_t block, uint32_t channels,
                      const WeightVisitor& visitor) {
  WeightTraversal walk(loops, core, channels, visitor);
  return loops.u85 ? walk.u85(block) : walk.u55();
}

}  // namespace thimble::ethos_u::sim
