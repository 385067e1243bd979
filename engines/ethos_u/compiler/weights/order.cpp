// SPDX-License-Identifier: Apache-2.0
// Weights are emitted in units. A unit is one kernel element, a range of input channels (`depth`),
// and the output channels of one microblock that belong to the core. The order of the units is:
//
//   for each block of output channels
//     for each input block
//       for each sub-kernel (at most 8 x 8 elements of the dilated kernel)
//         for each unit depth inside the input block
//           for each microblock of output channels
//             for each element of the sub-kernel, then padding units: zeros
//
// The generations differ in the order of sub-kernels and elements, in the assignment of channels to
// cores, and in the depth of blocks and units.

#include "engines/ethos_u/compiler/weights/order.h"

#include <algorithm>

namespace thimble::engine::ethos_u {
namespace {

using thimble::ethos_u::Generation;
using thimble::ethos_u::kMicroblocks;

constexpr int kPad = -1;  // an element outside the kernel

/// Elements of one sub-kernel as row * kernel width + column, or kPad.
using Part = std::vector<int>;

struct Order {
  bool u85 = false;
  int cores = 1;
  int64_t microblock = 8;  // output channels of all its cores (U85) or of one core (U55, U65)
  int64_t in_block = 32;   // input channels per input block
  int64_t depth = 32;      // input channels of a unit
  int64_t run = 8;         // consecutive input channels per output channel
  int64_t group = 1;       // the number of elements per sub-kernel is padded to a multiple of this
  std::vector<Part> parts;
};

int64_t rounded(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// Returns the depth of the microblocks of U55 and U65, or of the microblock in the options.
int64_t microblock_depth(const WeightOptions& options) {
  for (const auto& row : kMicroblocks) {
    if (std::string_view(row.config) != options.config->name) continue;
    if (options.microblock_depth == 0 || options.microblock_depth == row.block.depth) {
      return row.block.depth;
    }
  }
  return 0;
}

/// Lists the elements row by row, padded to whole groups.
Part rows_u55(int64_t kernel_w, int64_t y, int64_t x, int64_t height, int64_t width,
              int64_t group) {
  Part part;
  for (int64_t i = 0; i < height * width; ++i) {
    part.push_back(static_cast<int>((y + i / width) * kernel_w + x + i % width));
  }
  part.resize(static_cast<size_t>(rounded(height * width, group)), kPad);
  return part;
}

struct Steps {
  int64_t h = 1, w = 1;
};

/// Lists the elements for each phase of the stride. The elements of a phase are listed row by row,
/// odd rows in reverse. `padding_after` padding units follow each whole group.
Part serpentine_u85(int64_t kernel_w, int64_t y, int64_t x, int64_t height, int64_t width,
                    Steps stride, int64_t group, int64_t padding_after) {
  Part part;
  int64_t left = rounded(height * width, group);
  for (int64_t phase = 0; phase < stride.h * stride.w; ++phase) {
    const int64_t phase_y = phase / stride.w;
    const int64_t phase_x = phase % stride.w;
    std::vector<int64_t> columns;
    for (int64_t at = phase_x; at < width; at += stride.w) columns.push_back(at);
    for (int64_t at = phase_y; at < height && !columns.empty(); at += stride.h) {
      for (const int64_t column : columns) {
        part.push_back(static_cast<int>((y + at) * kernel_w + x + column));
        if (--left % group == 0) part.insert(part.end(), static_cast<size_t>(padding_after), kPad);
      }
      std::reverse(columns.begin(), columns.end());
    }
  }
  if (left > 0) part.insert(part.end(), static_cast<size_t>(left + padding_after), kPad);
  return part;
}

Order order_u55(const Weights& weights, const WeightOptions& options) {
  const bool wide = options.ifm_bits == 16;
  const bool part_kernel = options.part_kernel_first;
  Order order;
  order.cores = order_cores(options);
  order.microblock = microblock_depth(options);
  order.in_block = part_kernel || wide ? 16 : 32;
  order.depth = options.depthwise ? 1 : part_kernel ? 8 : order.in_block;
  order.run = options.depthwise ? 1 : 8;
  order.group = options.depthwise ? 4 : !part_kernel ? 1 : wide ? 2 : 4;
  const int64_t high = 8 / options.dilation_h;
  const int64_t wide_part = 8 / options.dilation_w;
  for (int64_t y = 0; y < weights.kernel_h; y += high) {
    for (int64_t x = 0; x < weights.kernel_w; x += wide_part) {
      order.parts.push_back(rows_u55(weights.kernel_w, y, x, std::min(high, weights.kernel_h - y),
                                     std::min(wide_part, weights.kernel_w - x), order.group));
    }
  }
  return order;
}

/// Returns the input channels per block on the U85, except for depthwise convolutions.
int64_t in_block_u85(const WeightOptions& options, int64_t microblock) {
  if (options.part_kernel_first) return 16;
  const bool small = options.config->macs <= 256 && microblock == 16 && !options.sparse;
  if (options.ifm_bits == 32 || small) return 32;
  return options.sparse && options.ifm_bits == 8 ? 128 : 64;
}

Order order_u85(const Weights& weights, const WeightOptions& options) {
  const bool wide = options.ifm_bits == 16;
  const int macs = options.config->macs;
  Order order;
  order.u85 = true;
  order.cores = options.config->cores;
  order.microblock = microblock_depth(options);
  int64_t padding_after = 0;
  Steps stride = {options.stride_h, options.stride_w};
  if (options.depthwise) {
    order.in_block = order.depth = order.run = 1;
    order.group = 10;
    padding_after = macs > 512 ? 6 : macs > 256 || wide ? 2 : 0;
  } else {
    order.in_block = order.depth = in_block_u85(options, order.microblock);
    order.run = options.sparse ? 16 : 8;
    if (options.part_kernel_first) {
      if (wide && !options.sparse) order.depth = 8;
      order.group = wide || options.sparse ? 10 : 5;
    } else {
      stride = {};
    }
  }
  const int64_t high = 8 / options.dilation_h;
  const int64_t wide_part = 8 / options.dilation_w;
  for (int64_t x = 0; x < weights.kernel_w; x += wide_part) {
    for (int64_t y = 0; y < weights.kernel_h; y += high) {
      order.parts.push_back(serpentine_u85(
          weights.kernel_w, y, x, std::min(high, weights.kernel_h - y),
          std::min(wide_part, weights.kernel_w - x), stride, order.group, padding_after));
    }
  }
  return order;
}

Order order_of(const Weights& weights, const WeightOptions& options) {
  return options.config->generation == Generation::kU85 ? order_u85(weights, options)
                                                        : order_u55(weights, options);
}

class Writer {
 public:
  Writer(const Weights& weights, const WeightOptions& options, int64_t channel, int64_t channels,
         int core)
      : weights_(weights),
        order_(order_of(weights, options)),
        block_(options.block_depth),
        first_(channel),
        last_(channel + channels),
        core_(core) {}

  std::vector<int16_t> write() {
    bool backwards = false;
    for (int64_t block = first_; block < last_; block += block_) {
      const int64_t end = std::min(block + block_, last_);
      const int64_t runs = (weights_.in + order_.in_block - 1) / order_.in_block;
      for (int64_t i = 0; i < runs; ++i) {
        const int64_t in = (backwards ? runs - 1 - i : i) * order_.in_block;
        for (const Part& part : order_.parts) input_block(part, block, end, in);
      }
      backwards = order_.u85 && !backwards;
    }
    return std::move(sequence_);
  }

 private:
  void input_block(const Part& part, int64_t block, int64_t end, int64_t in) {
    const int64_t deep = std::min(order_.in_block, rounded(weights_.in - in, order_.depth));
    // U85: all cores work on the same microblock; U55, U65: each core has its own microblocks.
    const int64_t step = order_.u85 ? order_.microblock : order_.microblock * order_.cores;
    const int64_t begin = order_.u85 ? block : block + core_;
    for (int64_t depth = 0; depth < deep; depth += order_.depth) {
      for (int64_t out = begin; out < end; out += step) {
        list_channels(out, end);
        for (const int element : part) unit(element, in + depth);
      }
    }
  }

  /// Lists the core's channels in the microblock at `out`; kPad for channels after the block.
  void list_channels(int64_t out, int64_t end) {
    channels_.clear();
    const int64_t count = order_.u85 ? order_.microblock / order_.cores : order_.microblock;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t offset =
          order_.u85 ? (i / 4 * order_.cores + core_) * 4 + i % 4 : i * order_.cores;
      channels_.push_back(out + offset < end ? out + offset : kPad);
    }
  }

  void unit(int element, int64_t in) {
    const size_t size = channels_.size() * static_cast<size_t>(order_.depth);
    const size_t at = sequence_.size();
    sequence_.resize(at + size);
    if (element == kPad) return;
    int16_t* to = sequence_.data() + at;
    const int64_t area = weights_.kernel_h * weights_.kernel_w;
    for (int64_t step = 0; step < order_.depth; step += order_.run) {
      const int64_t have = std::min(order_.run, weights_.in - in - step);
      for (const int64_t channel : channels_) {
        if (channel != kPad && have > 0) {
          const int16_t* from =
              weights_.values.data() + (channel * area + element) * weights_.in + in + step;
          std::copy(from, from + have, to);
        }
        to += order_.run;
      }
    }
  }

  const Weights& weights_;
  Order order_;
  int64_t block_, first_, last_;
  int core_;
  std::vector<int64_t> channels_;
  std::vector<int16_t> sequence_;
};

}  // namespace

Status check_order(const Weights& weights, const WeightOptions& options) {
  const bool u85 = options.config->generation == Generation::kU85;
  const auto count =
      static_cast<size_t>(weights.out * weights.kernel_h * weights.kernel_w * weights.in);
  if (weights.out < 1 || weights.kernel_h < 1 || weights.kernel_w < 1 || weights.in < 1 ||
      weights.values.size() != count) {
    return bad_input("{} weights, expected {} x {} x {} x {}", weights.values.size(), weights.out,
                     weights.kernel_h, weights.kernel_w, weights.in);
  }
  if (options.depthwise && weights.in != 1) {
    return bad_input("depthwise weights have {} input channels, not one", weights.in);
  }
  if (microblock_depth(options) == 0 || (u85 && options.microblock_depth == 0)) {
    return bad_input("{} has no microblock of depth {}", options.config->name,
                     options.microblock_depth);
  }
  const auto step = [](int64_t dilation) { return dilation == 1 || dilation == 2; };
  if (!step(options.dilation_h) || !step(options.dilation_w) || options.stride_h < 1 ||
      options.stride_w < 1) {
    return bad_input("dilation {} x {} and stride {} x {} have no order of weights",
                     options.dilation_h, options.dilation_w, options.stride_h, options.stride_w);
  }
  if (options.depthwise && options.part_kernel_first) {
    return bad_input("depthwise weights have one order only");
  }
  if ((options.fast || options.sparse) && (!u85 || options.depthwise)) {
    return bad_input("{} does not support {} weights for this operation", options.config->name,
                     options.fast ? "fast" : "sparse");
  }
  const int64_t unit = u85 ? 1 : order_cores(options);
  if (options.block_depth < 1 || options.block_depth % unit != 0) {
    return bad_input("{} cores cannot share blocks of {} channels", unit, options.block_depth);
  }
  return ok();
}

int order_cores(const WeightOptions& options) {
  if (options.cores == 0 || options.config->generation == Generation::kU85) {
    return options.config->cores;
  }
  return std::min<int>(options.cores, options.config->cores);
}

std::vector<int16_t> ordered(const Weights& weights, const WeightOptions& options, int64_t channel,
                             int64_t channels, int core) {
  return Writer(weights, options, channel, channels, core).write();
}

std::vector<int16_t> ordered_for_fast(const Weights& weights, const WeightOptions& options,
                                      int64_t channel, int64_t channels) {
  const Order order = order_of(weights, options);
  const auto piece =
      static_cast<size_t>(order.microblock * order.depth * order.group / order.cores);
  std::vector<std::vector<int16_t>> own;
  for (int core = 0; core < order.cores; ++core) {
    own.push_back(ordered(weights, options, channel, channels, core));
  }
  std::vector<int16_t> all;
  all.reserve(own[0].size() * own.size());
  for (size_t at = 0; at < own[0].size(); at += piece) {
    for (const auto& part : own) {
      const size_t end = std::min(at + piece, part.size());
      all.insert(all.end(), part.begin() + static_cast<ptrdiff_t>(at),
                 part.begin() + static_cast<ptrdiff_t>(end));
    }
  }
  return all;
}

}  // namespace thimble::engine::ethos_u
