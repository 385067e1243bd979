// SPDX-License-Identifier: Apache-2.0
#pragma once
// Decodes weight streams and scale records in memory as the hardware does.
//
//   WeightDecoder decoder;                       // a few KiB, in the caller's workspace
//   Bytes streams[4] = {...};                    // operation.weights, resolved in their regions
//   status = decoder.begin(config, operation, streams);
//   for each block of output channels, in order:
//     status = decoder.next(dense, capacity);    // [channels][kernel h][kernel w][ifm depth or 1]
//   status = decoder.finish();                   // checks that no weight is left
//
// The streams hold the weights in the order in which the MAC array reads them, padded with zeros
// (weight_order.cpp). They are coded as MLW (mlw_stream.h) or, on the U85, with fixed widths
// (fwd_stream.h). Arbitrary bytes are safe: nothing outside the streams is read, and the work is
// bounded by their length and the block size. Facts and sources: docs/ethos-u.md, "Weight streams".

#include <stddef.h>
#include <stdint.h>

#include "engines/ethos_u/isa/config.h"
#include "engines/ethos_u/sim/fwd_stream.h"
#include "engines/ethos_u/sim/mlw_stream.h"
#include "engines/ethos_u/sim/operation.h"
#include "engines/ethos_u/sim/weight_order.h"
#include "engines/ethos_u/sim/weight_status.h"

namespace thimble::ethos_u::sim {

class WeightDecoder {
 public:
  /// `streams`: array of operation.cores streams on U55 and U65, config.cores on the U85, one if
  /// the operation has fast weights. The operation must be CONV (without dynamic weights) or
  /// DEPTHWISE, and must outlive the decoder.
  [[nodiscard]] WeightStatus begin(const Config& config, const KernelOperation& operation,
                                   const Bytes* streams);

  /// Decodes the weights of the next operation.block_depth channels (fewer in the last block),
  /// dense, without padding. `capacity` is in elements; block_elements() is sufficient.
  [[nodiscard]] WeightStatus next(int16_t* dense, uint64_t capacity);

  /// Returns the first channel of the next block; the OFM's depth after the last block.
  [[nodiscard]] uint32_t channel() const { return channel_; }

  /// Call after the last block. Returns kTrailing if a stream still contains a weight.
  [[nodiscard]] WeightStatus finish();

 private:
  const KernelOperation* operation_ = nullptr;
  uint32_t channel_ = 0;
  bool fast_ = false;
  WeightLoops loops_;
  MlwStream mlw_[4];
  FwdStream fwd_[4];
};

/// Returns the number of elements of the operation's largest block; saturates.
[[nodiscard]] uint64_t block_elements(const KernelOperation& operation);

/// Scaling of an output channel: (accumulator + bias) * multiplier * 2^-shift.
struct ScaleRecord {
  int64_t bias = 0;         // 40 bits; on the U85 32, or 48 with the wide accumulator
  uint32_t multiplier = 0;  // 32 bits; on the U85 31, or 15 with the wide accumulator
  uint8_t shift = 0;        // 6 bits
};

/// Reads the record of one output channel. `streams`: array of operation.cores streams (U65-512:
/// two), one on the U85.
[[nodiscard]] WeightStatus scale_record(const Config& config, const KernelOperation& operation,
                                        const Bytes* streams, uint32_t channel,
                                        ScaleRecord* record);

}  // namespace thimble::ethos_u::sim
