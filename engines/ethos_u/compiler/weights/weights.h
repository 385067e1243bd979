// SPDX-License-Identifier: Apache-2.0
#pragma once
// Encodes weights and scales of an operation as the bytes that the hardware reads.
//
//   WeightEncoder encoder(*op.weights, op.requantize);
//   WeightOptions options = {.config = ..., .block_depth = 32, ...};
//   THIMBLE_TRY(EncodedWeights encoded, encoder.encode(options, starts));
//
// A slice contains the weights of a range of output channels. It is contiguous, so that one DMA can
// copy it: for each core its scale records, then its weight stream, all 16-byte aligned. On the
// U85 only the first core has scale records, and fast weights have one stream for all cores. Slices
// begin at multiples of the block depth.
//
// The encoder caches slices: encoding again with other cuts encodes only the new slices.
// estimate() is much faster and returns the length of encode()'s result within a few percent.
//
// Files: order.h (order in which the MAC array reads weights), mlw_*.h (MLW encoding), fast.h
// (fixed widths, U85). Facts: docs/ethos-u.md, "Weight streams".

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "engines/ethos_u/compiler/npu_op.h"
#include "engines/ethos_u/isa/config.h"

namespace thimble::engine::ethos_u {

/// Parameters of the order and coding of weights, in addition to the weights.
struct WeightOptions {
  const thimble::ethos_u::Config* config = nullptr;
  bool depthwise = false;
  bool part_kernel_first = false;  // KERNEL_STRIDE.weight_order; never for depthwise
  int64_t block_depth = 16;        // OFM_BLK_DEPTH
  int64_t microblock_depth = 0;    // U85: of the microblock in use; others: 0 = the only one
  int64_t stride_h = 1, stride_w = 1;
  int64_t dilation_h = 1, dilation_w = 1;
  int ifm_bits = 8;
  bool wide_accumulator = false;  // U85: format of the scale records
  int cores = 0;                  // U65-512: 1 or 2 weight streams; 0 = one per core
  bool fast = false;              // U85: WEIGHT_FORMAT.format
  bool sparse = false;            // U85: WEIGHT_FORMAT.sparsity and the corresponding order

  auto operator<=>(const WeightOptions&) const = default;
};

struct ByteRange {
  int64_t offset = 0;  // relative to EncodedWeights::bytes
  int64_t length = 0;  // 0: this core has no channel in the slice
};

struct WeightSlice {
  int64_t channel = 0, channels = 0;
  ByteRange all;
  std::array<ByteRange, 4> weights;  // per core; values of WEIGHT_BASE and WEIGHT_LENGTH
  std::array<ByteRange, 2> scales;   // per core (U65-512), else only [0]; length without padding
  int64_t symbols = 0;               // weights in the streams, including padding
  int64_t zeros = 0;                 // number of zeros in symbols
  double decode_cycles = 0;          // result of decode_cycles() below
};

struct EncodedWeights {
  std::vector<std::byte> bytes;
  std::vector<WeightSlice> slices;
  int weight_streams = 1, scale_streams = 1;
};

class WeightEncoder {
 public:
  /// Both references must outlive the encoder.
  WeightEncoder(const Weights& weights, const Requantize& requantize)
      : weights_(weights), requantize_(requantize) {}

  /// `starts`: first channel of each slice, ascending from 0, multiples of the block depth.
  [[nodiscard]] Result<EncodedWeights> encode(const WeightOptions& options,
                                              std::span<const int64_t> starts);

  /// Returns lengths (weights within a few percent, scales exact) and cycles of a slice without
  /// encoding it.
  [[nodiscard]] Result<WeightSlice> estimate(const WeightOptions& options, int64_t channel,
                                             int64_t channels);

  /// Number of slices encoded so far; a slice found in the cache is not counted. For tests.
  [[nodiscard]] size_t encoded_slices() const { return encoded_slices_; }

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
  size_t encoded_slices_ = 0;
};

/// Encodes without a cache. An empty `starts` gives one slice.
[[nodiscard]] Result<EncodedWeights> encode(const Weights& weights, const Requantize& requantize,
                                            const WeightOptions& options,
                                            std::span<const int64_t> starts = {});

/// Returns true if at most two of every four weights along the depth are nonzero and all fit in
/// eight bits. WeightOptions::sparse is then allowed (U85, not depthwise).
[[nodiscard]] bool is_sparse(const Weights& weights);

/// Returns the weights per cycle of the fast decoder: 64 for fewer than 16 values, else 32. Returns
/// 0 if the fast format cannot represent the weights. It holds 16 values, or a range of 256 that
/// includes the zero of the padding.
[[nodiscard]] int fast_rate(const Weights& weights);

/// Returns the cycles that the decoders need for one slice, by the published model. Fast weights:
/// 64 per cycle with fewer than 16 values, else 32. Otherwise 8 per core and cycle if at most half
/// of the weights are zero, increasing to 32 at nine of ten.
[[nodiscard]] double decode_cycles(const WeightOptions& options, int64_t symbols, int64_t zeros,
                                   int64_t distinct);

}  // namespace thimble::engine::ethos_u
