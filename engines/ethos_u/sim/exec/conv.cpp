// SPDX-License-Identifier: Apache-2.0
// CONV. The window of the IFM at each position is gathered once, with the zero point subtracted,
// and multiplied by the weights of each output channel. The weights are dense in the workspace.

#include "abi/freestanding.h"
#include "engines/ethos_u/sim/exec/exec.h"

namespace thimble::ethos_u::sim {
namespace {

uint64_t window_elements(const KernelOperation& operation) {
  return uint64_t{operation.kernel.height} * operation.kernel.width * operation.ifm.depth;
}

/// Multiplies the window by the weights of `n` channels. The weights of two channels are `elements`
/// apart.
void products(const int32_t* window, const int16_t* weights, uint32_t elements, uint32_t n,
              int64_t* sums) {
  for (uint32_t k = 0; k < n; ++k, weights += elements) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < elements; ++i) sum += int64_t{window[i]} * weights[i];
    sums[k] = sum;
  }
}

/// Computes sums of up to 128 products of 16 x 9 bits for four channels. The sums fit in 32 bits,
/// and the window is read once for the four channels. A separate function, so that all values stay
/// in registers.
#if defined(__arm__) && defined(__GNUC__) && !defined(__clang__)
// GCC would otherwise gather the four weights into a vector through memory.
[[gnu::optimize("no-tree-slp-vectorize")]]
#endif
[[gnu::noinline]] void
four_sums(const int16_t* window, const int16_t* const* weights, uint32_t n, int32_t* sums) {
  const int16_t* const w0 = weights[0];
  const int16_t* const w1 = weights[1];
  const int16_t* const w2 = weights[2];
  const int16_t* const w3 = weights[3];
  int32_t sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
  for (uint32_t i = 0; i < n; ++i) {
    const int32_t value = window[i];
    sum0 += value * w0[i];
    sum1 += value * w1[i];
    sum2 += value * w2[i];
    sum3 += value * w3[i];
  }
  sums[0] = sum0, sums[1] = sum1, sums[2] = sum2, sums[3] = sum3;
}

void products(const int16_t* window, const int16_t* weights, uint32_t elements, uint32_t n,
              int64_t* sums) {
  for (uint32_t k = 0; k < n; k += 4) {
    // Channels past the last one repeat the last one.
    const int16_t* at[4];
    for (uint32_t j = 0; j < 4; ++j) {
      at[j] = weights + size_t{k + j < n ? k + j : n - 1} * elements;
    }
    int64_t sum[4] = {};
    for (uint32_t done = 0; done < elements; done += 128) {
      const uint32_t piece = elements - done < 128 ? elements - done : 128;
      int32_t part[4];
      four_sums(window + done, at, piece, part);
      for (uint32_t j = 0; j < 4; ++j) sum[j] += part[j], at[j] += piece;
    }
    for (uint32_t j = 0; j < 4 && k + j < n; ++j) sums[k + j] = sum[j];
  }
}

/// The window of one position as elements of type Element. The zero point is subtracted; padding is
/// 0.
template <typename Element>
class Window {
 public:
  Window(const Context& context, Element* at)
      : operation_(context.operation),
        reader_(operation_.ifm, context.memory),
        grid_(grid_of(operation_)),
        at_(at),
        bytes_(sizeof(Element) == 2 && reader_.contiguous_bytes() && !context.workspace.slow) {}

  bool gather(uint32_t y, uint32_t x) {
    const Kernel& kernel = operation_.kernel;
    const uint32_t depth = operation_.ifm.depth;
    Element* to = at_;
    for (uint32_t ky = 0; ky < kernel.height; ++ky) {
      const int64_t from_y =
          int64_t{y} * kernel.stride_y + int64_t{ky} * kernel.dilation_y - int64_t{kernel.pad_top};
      for (uint32_t kx = 0; kx < kernel.width; ++kx, to += depth) {
        const int64_t from_x = int64_t{x} * kernel.stride_x + int64_t{kx} * kernel.dilation_x -
                               int64_t{kernel.pad_left};
        uint32_t map_y = 0, map_x = 0;
        if (!in_map(operation_, grid_, from_y, from_x, &map_y, &map_x)) {
          for (uint32_t c = 0; c < depth; ++c) to[c] = 0;
        } else if (!(bytes_ ? fast(map_y, map_x, to) : slow(map_y, map_x, to))) {
          return false;
        }
      }
    }
    return true;
  }

 private:
  bool fast(uint32_t y, uint32_t x, Element* to) {
    const FeatureMap& map = operation_.ifm;
    const uint8_t* bytes = reader_.bytes(y, x, 0, map.depth);
    if (bytes == nullptr) return false;
    const auto zero = static_cast<int16_t>(map.zero_point);
    if (map.is_signed) {
      for (uint32_t c = 0; c < map.depth; ++c) {
        to[c] = static_cast<Element>(static_cast<int8_t>(bytes[c]) - zero);
      }
    } else {
      for (uint32_t c = 0; c < map.depth; ++c) to[c] = static_cast<Element>(bytes[c] - zero);
    }
    return true;
  }
  bool slow(uint32_t y, uint32_t x, Element* to) {
    const FeatureMap& map = operation_.ifm;
    int32_t values[kRow];
    for (uint32_t c = 0; c < map.depth; c += kRow) {
      const uint32_t n = map.depth - c < kRow ? map.depth - c : kRow;
      if (!reader_.row(y, x, c, n, values)) return false;
      for (uint32_t i = 0; i < n; ++i) {
        to[c + i] = static_cast<Element>(static_cast<uint32_t>(values[i]) -
                                         static_cast<uint32_t>(map.zero_point));
      }
    }
    return true;
  }

  const KernelOperation& operation_;
  Reader reader_;
  Grid grid_;
  Element* at_;
  bool bytes_;
};

/// Returns true if values minus the zero point fit in 16 bits, so that the products fit in 32.
bool narrow(const FeatureMap& map) {
  if (map.bits != 8) return false;
  return map.zero_point >= -0x7F00 && map.zero_point <= 0x7F00;
}

/// The weights of one block of channels, and their scales.
struct Block {
  uint32_t first = 0, channels = 0;
  const int16_t* dense = nullptr;
  const ScaleRecord* records = nullptr;
};

/// Finishes the sums of channels [c, c + n) of the block at one position: adds the initial values,
/// scales, and writes to memory.
bool finish_row(const Context& context, const Block& block, uint32_t y, uint32_t x, uint32_t c,
                uint32_t n, int64_t* sums, Output& output, Accumulators& accumulators) {
  const uint32_t channel = block.first + c;
  if (!accumulators.add_initial(y, x, channel, n, sums)) return false;
  for (uint32_t i = 0; i < n; ++i) sums[i] = wrap(sums[i], accumulators.bits());
  if (accumulators.keeps(y, x, channel, n, sums)) return true;
  return context.operation.global_scale
             ? output.global_row(y, x, channel, n, sums)
             : output.record_row(y, x, channel, n, sums, block.records + c);
}

template <typename Element>
Fault run_block(const Context& context, const Block& block, Element* window_at, Output& output,
                Accumulators& accumulators) {
  const KernelOperation& operation = context.operation;
  const auto elements = static_cast<uint32_t>(window_elements(operation));
  Window<Element> window(context, window_at);
  for (uint32_t y = 0; y < operation.ofm.height; ++y) {
    for (uint32_t x = 0; x < operation.ofm.width; ++x) {
      if (!window.gather(y, x)) return context.memory.fault();
      for (uint32_t c = 0; c < block.channels; c += kRow) {
        const uint32_t n = block.channels - c < kRow ? block.channels - c : kRow;
        int64_t values[kRow];
        products(window_at, block.dense + uint64_t{c} * elements, elements, n, values);
        if (!finish_row(context, block, y, x, c, n, values, output, accumulators)) {
          return context.memory.fault();
        }
      }
    }
  }
  return {};
}

/// Decodes the blocks of output channels in order.
class Blocks {
 public:
  explicit Blocks(const Context& context) : context_(context) {}

  Fault begin(Scratch& scratch) {
    const KernelOperation& operation = context_.operation;
    capacity_ = block_elements(operation);
    auto* const decoder = scratch.take<WeightDecoder>(1);
    dense_ = scratch.take<int16_t>(capacity_);
    records_ = scratch.take<ScaleRecord>(channels_of_block());
    if (decoder == nullptr || dense_ == nullptr || records_ == nullptr)
      return workspace_too_small();
    decoder_ = new (abi::Place{decoder}) WeightDecoder;
    Fault fault = streams_of(context_.memory, operation.weights, operation.cores, weights_);
    if (fault.none()) fault = streams_of(context_.memory, operation.scales, 2, scales_);
    if (!fault.none()) return fault;
    const WeightStatus status = decoder_->begin(context_.config, operation, weights_);
    return status == WeightStatus::kOk ? Fault{} : bad_weights(status);
  }

  /// Decodes the next block; channels = 0 after the last block.
  Fault next(Block* block) {
    const KernelOperation& operation = context_.operation;
    *block = {};
    block->first = decoder_->channel();
    if (block->first >= operation.ofm.depth) {
      const WeightStatus status = decoder_->finish();
      return status == WeightStatus::kOk ? Fault{} : bad_weights(status);
    }
    WeightStatus status = decoder_->next(dense_, capacity_);
    if (status != WeightStatus::kOk) return bad_weights(status);
    block->channels = decoder_->channel() - block->first;
    block->dense = dense_;
    block->records = records_;
    for (uint32_t i = 0; !operation.global_scale && i < block->channels; ++i) {
      status = scale_record(context_.config, operation, scales_, block->first + i, &records_[i]);
      if (status != WeightStatus::kOk) return bad_weights(status);
    }
    return {};
  }

  [[nodiscard]] static uint64_t channels_of_block(const KernelOperation& operation) {
    return operation.block_depth < operation.ofm.depth ? operation.block_depth
                                                       : operation.ofm.depth;
  }

 private:
  [[nodiscard]] uint64_t channels_of_block() const { return channels_of_block(context_.operation); }

  const Context& context_;
  WeightDecoder* decoder_ = nullptr;
  int16_t* dense_ = nullptr;
  ScaleRecord* records_ = nullptr;
  uint64_t capacity_ = 0;
  Bytes weights_[4], scales_[2];
};

/// Calls run(block, output, accumulators) for every block of the operation.
template <typename Run>
Fault each_block(const Context& context, Scratch& scratch, const Run& run) {
  Blocks blocks(context);
  Accumulators accumulators(context);
  Output output(context.config, context.operation, context.memory);
  if (!output.ready()) return context.memory.fault();
  Fault fault = accumulators.begin();
  if (fault.none()) fault = blocks.begin(scratch);
  while (fault.none()) {
    Block block;
    fault = blocks.next(&block);
    if (!fault.none() || block.channels == 0) break;
    fault = run(block, output, accumulators);
  }
  return fault;
}

template <typename Element>
Fault run_conv(const Context& context) {
  const uint64_t elements = window_elements(context.operation);
  if (elements > UINT32_MAX) return workspace_too_small();
  Scratch scratch(context.workspace);
  auto* const window = scratch.take<Element>(elements);
  if (window == nullptr) return workspace_too_small();
  const auto run = [&](const Block& block, Output& output, Accumulators& accumulators) {
    return run_block(context, block, window, output, accumulators);
  };
  return each_block(context, scratch, run);
}

}  // namespace

Fault execute_conv(const Context& context) {
  if (narrow(context.operation.ifm) && !context.workspace.slow) return run_conv<int16_t>(context);
  return run_conv<int32_t>(context);
}

namespace {

/// Computes the sums over the window of one position for channels [c, c + n) of a block.
template <typename Sum>
bool depthwise_sums(const Context& context, Reader& reader, const Grid& grid, const Block& block,
                    uint32_t y, uint32_t x, uint32_t c, uint32_t n, int64_t* result) {
  const KernelOperation& operation = context.operation;
  const Kernel& kernel = operation.kernel;
  const uint32_t taps = kernel.height * kernel.width;
  const Sum zero = operation.ifm.zero_point;
  Sum sums[kRow] = {};
  for (uint32_t tap = 0; tap < taps; ++tap) {
    const int64_t from_y = int64_t{y} * kernel.stride_y +
                           int64_t{tap / kernel.width} * kernel.dilation_y -
                           int64_t{kernel.pad_top};
    const int64_t from_x = int64_t{x} * kernel.stride_x +
                           int64_t{tap % kernel.width} * kernel.dilation_x -
                           int64_t{kernel.pad_left};
    uint32_t map_y = 0, map_x = 0;
    if (!in_map(operation, grid, from_y, from_x, &map_y, &map_x)) continue;
    int32_t values[kRow];
    if (!reader.row(map_y, map_x, block.first + c, n, values)) return false;
    const int16_t* weights = block.dense + uint64_t{c} * taps + tap;
    for (uint32_t i = 0; i < n; ++i) {
      sums[i] += (values[i] - zero) * weights[uint64_t{i} * taps];
    }
  }
  for (uint32_t i = 0; i < n; ++i) result[i] = sums[i];
  return true;
}

Fault depthwise_block(const Context& context, const Block& block, Output& output,
                      Accumulators& accumulators) {
  const KernelOperation& operation = context.operation;
  Reader reader(operation.ifm, context.memory);
  const Grid grid = grid_of(operation);
  // 128 products of 16 x 9 bits fit in 32 bits.
  const bool small = narrow(operation.ifm) && !context.workspace.slow &&
                     operation.kernel.height * operation.kernel.width <= 128;
  const auto depthwise_row = small ? depthwise_sums<int32_t> : depthwise_sums<int64_t>;
  for (uint32_t y = 0; y < operation.ofm.height; ++y) {
    for (uint32_t x = 0; x < operation.ofm.width; ++x) {
      for (uint32_t c = 0; c < block.channels; c += kRow) {
        const uint32_t n = block.channels - c < kRow ? block.channels - c : kRow;
        int64_t sums[kRow];
        if (!depthwise_row(context, reader, grid, block, y, x, c, n, sums) ||
            !finish_row(context, block, y, x, c, n, sums, output, accumulators)) {
          return context.memory.fault();
        }
      }
    }
  }
  return {};
}

}  // namespace

Fault execute_depthwise(const Context& context) {
  Scratch scratch(context.workspace);
  const auto run = [&](const Block& block, Output& output, Accumulators& accumulators) {
    return depthwise_block(context, block, output, accumulators);
  };
  return each_block(context, scratch, run);
}

size_t conv_scratch(const KernelOperation& operation) {
  const uint64_t window = operation.code == Operation::DEPTHWISE ? 0 : window_elements(operation);
  const size_t parts[] = {scratch_bytes(window, sizeof(int32_t)),
                          scratch_bytes(1, sizeof(WeightDecoder)),
                          scratch_bytes(block_elements(operation), sizeof(int16_t)),
                          scratch_bytes(Blocks::channels_of_block(operation), sizeof(ScaleRecord))};
  size_t sum = 0;
  for (const size_t part : parts) sum = sum > SIZE_MAX / 4 ? sum : sum + part;
  return sum;
}

}  // namespace thimble::ethos_u::sim
