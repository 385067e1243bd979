#pragma once
// Weights and scale records as the hardware reads them: streams in memory to numbers.
//
//   WeightDecoder decoder;                       // a few KiB, in the caller's workspace
//   Bytes streams[4] = {...};                    // operation.weights, resolved in their regions
//   status = decoder.begin(config, operation, streams);
//   for each block of output channels, in order:
//     status = decoder.next(dense, capacity);    // [channels][kernel h][kernel w][ifm depth or 1]
//   status = decoder.finish();                   // nothing may be left
//
// The streams hold the weights in the order the multipliers want them, padded with zeros
// (weight_order.cpp has the order), coded as MLW (mlw_stream.h) or, on the U85, with fixed widths
// (fwd_stream.h). Any bytes are safe: nothing outside the streams is read, and the work is bounded
// by their length and the size of a block. Facts and sources: docs/ethos-u.md, "Weight streams".

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
  /// `streams`: operation.cores of them on U55 and U65, config.cores on the U85, one if the
  /// operation has fast weights. The operation is CONV (without dynamic weights) or DEPTHWISE;
  /// the operation must outlive the decoder.
  [[nodiscard]] WeightStatus begin(const Config& config, const KernelOperation& operation,
                                   const Bytes* streams);

  /// Decodes the weights of the next operation.block_depth channels (the last block has what is
  /// left), dense, without padding. `capacity` is in elements; block_elements() suffices.
  [[nodiscard]] WeightStatus next(int16_t* dense, uint64_t capacity);

  /// First channel of the block that next() will decode; the OFM's depth after the last one.
  [[nodiscard]] uint32_t channel() const { return channel_; }

  /// After the last block: kTrailing if a stream still holds a weight.
  [[nodiscard]] WeightStatus finish();

 private:
  const KernelOperation* operation_ = nullptr;
  uint32_t channel_ = 0;
  bool fast_ = false;
  WeightLoops loops_;
  MlwStream mlw_[4];
  FwdStream fwd_[4];
};

/// Elements of the largest block that WeightDecoder::next() makes of this operation; saturates.
[[nodiscard]] uint64_t block_elements(const KernelOperation& operation);

/// What a channel's result is made with: (accumulator + bias) * multiplier * 2^-shift.
struct ScaleRecord {
  int64_t bias = 0;         // 40 bits; on the U85 32, or 48 with the wide accumulator
  uint32_t multiplier = 0;  // 32 bits; on the U85 31, or 15 with the wide accumulator
  uint8_t shift = 0;        // 6 bits
};

/// The record of one output channel. `streams`: operation.cores of them (U65-512: two), one on the
/// U85.
[[nodiscard]] WeightStatus scale_record(const Config& config, const KernelOperation& operation,
                                        const Bytes* streams, uint32_t channel,
                                        ScaleRecord* record);

}  // namespace thimble::ethos_u::sim
