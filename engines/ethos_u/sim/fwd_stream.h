// SPDX-License-Identifier: Apache-2.0
#pragma once
// The fast weight format (FWD) of the U85: a header of 32 bytes, then every weight in 2, 4 or 8
// bits.
//
// All cores share one stream, in which groups of weights of each core alternate. Each core computes
// the addresses of its own weights.

#include <stddef.h>
#include <stdint.h>

#include "engines/ethos_u/sim/weight_status.h"

namespace thimble::ethos_u::sim {

class FwdStream {
 public:
  /// `piece`: number of consecutive weights of one core.
  [[nodiscard]] WeightStatus begin(Bytes bytes, uint32_t core, uint32_t cores, uint32_t piece);
  [[nodiscard]] WeightStatus next(int32_t* weight);
  /// Returns kTrailing if a whole 32-byte word is left.
  [[nodiscard]] WeightStatus finish() const;

 private:
  Bytes bytes_;
  uint32_t core_ = 0, cores_ = 1;
  uint32_t piece_ = 1;
  uint32_t width_ = 8;     // bits of a weight
  int32_t adjust_ = 0;     // raw mode: offset that was added to the weights
  uint64_t position_ = 0;  // index of the next weight in the core's own sequence
  int16_t table_[16] = {};
};

}  // namespace thimble::ethos_u::sim
