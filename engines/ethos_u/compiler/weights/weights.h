#pragma once
// Weights and scales of an operation as the bytes that the hardware reads.
//
//   WeightEncoder encoder(*op.weights, op.requantize);
//   WeightOptions options = {.config = ..., .block_depth = 32, ...};
//   THIMBLE_TRY(EncodedWeights encoded, encoder.encode(options, starts));
//
// A slice is the weights of a range of output channels, contiguous so that one DMA brings it: for
// each core its scale records, then its weight stream, all 16-byte aligned (on the U85 there are
// scales in front of the first core's weights only, and fast weights have one stream for all
// cores). Slices begin at multiples of the block depth.
//
// The encoder remembers slices: asking again with other cuts costs only the new ones. estimate()
// is far cheaper and says what encode() would come to, within a few percent.
//
// Files: order.h (weights to the sequence the multipliers want), mlw_*.h (that sequence to bits),
// fast.h (the same with fixed widths, U85). Facts: docs/ethos-u.md, "Weight streams".

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "engines/ethos_u/isa/config.h"
#include "engines/ethos_u/compiler/npu_op.h"

namespace thimble::engine::ethos_u {

/// What the order and coding of weights depend on, beside the weights.
struct WeightOptions {
  const thimble::ethos_u::Config* config = nullptr;
  bool depthwise = false;
  bool part_kernel_first = false;  // KERNEL_STRIDE.weight_order; never for depthwise
  int64_t block_depth = 16;        // OFM_BLK_DEPTH
  int64_t microblock_depth = 0;    // U85: of the micro-block in use; others: 0 = the only one
  int64_t stride_h = 1, stride_w = 1;
  int64_t dilation_h = 1, dilation_w = 1;
  int ifm_bits = 8;
  bool wide_accumulator = false;  // form of the scale records on the U85
  int cores = 0;                  // U65-512: 1 or 2 weight streams; 0 = as many as it has cores
  bool fast = false;              // U85: WEIGHT_FORMAT.format
  bool sparse = false;            // U85: WEIGHT_FORMAT.sparsity, and the order that goes with it

  auto operator<=>(const WeightOptions&) const = default;
};

struct ByteRange {
  int64_t offset = 0;  // from the start of EncodedWeights::bytes
  int64_t length = 0;  // 0: this core has no channel in the slice
};

struct WeightSlice {
  int64_t channel = 0, channels = 0;
  ByteRange all;
  std::array<ByteRange, 4> weights;  // per core; what WEIGHT_BASE and WEIGHT_LENGTH get
  std::array<ByteRange, 2> scales;   // per core (U65-512), else the first; length without padding
  int64_t symbols = 0;               // weights in the streams, padding included
  int64_t zeros = 0;                 // of these
  double decode_cycles = 0;          // by decode_cycles() below
};

struct EncodedWeights {
  std::vector<std::byte> bytes;
  std::vector<WeightSlice> slices;
  int weight_streams = 1, scale_streams = 1;
};

class WeightEncoder {
 public:
  /// Both must outlive the encoder.
  WeightEncoder(const Weights& weights, const Requantize& requantize)
      : weights_(weights), requantize_(requantize) {}

  /// `starts`: first channel of each slice, rising from 0, multiples of the block depth.
  [[nodiscard]] Result<EncodedWeights> encode(const WeightOptions& options,
                                              std::span<const int64_t> starts);

  /// Lengths (weights within a few percent, scales exact) and cycles of a slice, without encoding.
  [[nodiscard]] Result<WeightSlice> estimate(const WeightOptions& options, int64_t channel,
                                             int64_t channels);

 private:
  struct Coded;  // one slice
  struct Key {
    WeightOptions options;
    int64_t channel = 0, channels = 0;
    auto operator<=>(const Key&) const = default;
  };
  [[nodiscard]] Result<std::shared_ptr<const Coded>> slice(const Key& key);

  const Weights& weights_;
  const Requantize& requantize_;
  std::map<Key, std::shared_ptr<const Coded>> coded_;
};

/// The same for one use. An empty `starts` is one slice.
[[nodiscard]] Result<EncodedWeights> encode(const Weights& weights, const Requantize& requantize,
                                            const WeightOptions& options,
                                            std::span<const int64_t> starts = {});

/// True if at most two of every four weights along the depth are used and all fit in eight bits,
/// so that WeightOptions::sparse is allowed (U85, not depthwise).
[[nodiscard]] bool is_sparse(const Weights& weights);

/// Weights that the fast decoder makes in a cycle, 64 if there are fewer than 16 values, else 32; 0
/// if the fast format cannot say these: it holds 16 values, or a range of 256 with the zero that
/// padding needs.
[[nodiscard]] int fast_rate(const Weights& weights);

/// Cycles that the decoders of one slice need, by the published model: fast weights 64 a cycle
/// with fewer than 16 values, else 32; otherwise 8 per core and cycle if half of them are zero or
/// fewer, rising to 32 with nine of ten.
[[nodiscard]] double decode_cycles(const WeightOptions& options, int64_t symbols, int64_t zeros,
                                   int64_t distinct);

}  // namespace thimble::engine::ethos_u
