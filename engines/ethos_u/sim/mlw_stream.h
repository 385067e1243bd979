// SPDX-License-Identifier: Apache-2.0
#pragma once
// Decoder of the MLW bit stream: slices of Golomb-Rice coded weights, with palettes and zero runs.
//
// A slice is a header and a sequence of chunks. A chunk has three parts: up to twelve bits of unary
// quotients of the weights; up to twelve (or eight) bits of unary quotients of the zero runs; the
// remainders of the quotients that the previous chunk completed. The decoder therefore reads at
// most one chunk ahead of the values it returns, and its queues are short.

#include <stddef.h>
#include <stdint.h>

#include "engines/ethos_u/sim/weight_status.h"

namespace thimble::ethos_u::sim {

/// Reads bits of a stream, the least significant bit of a byte first. Never reads past the end.
class BitReader {
 public:
  void begin(Bytes bytes) {
    bytes_ = bytes;
    bit_ = 0;
    failed_ = false;
  }
  /// Reads `count` <= 16 bits. Returns zeros and sets failed() if fewer bits are left.
  [[nodiscard]] uint32_t take(uint32_t count);
  [[nodiscard]] uint64_t left() const { return bytes_.size * 8 - bit_; }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  Bytes bytes_;
  uint64_t bit_ = 0;
  bool failed_ = false;
};

class MlwStream {
 public:
  void begin(Bytes bytes);
  /// Reads the next weight.
  [[nodiscard]] WeightStatus next(int32_t* weight);
  /// Returns kOk if no weight is left and the stream ends correctly.
  [[nodiscard]] WeightStatus finish();

 private:
  /// Pending quotients or values. Weights are at most 7 + 12 symbols ahead of the runs, and runs 12
  /// ahead of the weights. Each can be ahead by one more chunk whose remainders are not read yet.
  struct Queue {
    static constexpr uint32_t kSize = 64;
    uint32_t items[kSize];
    uint32_t read = 0, write = 0;
    [[nodiscard]] bool empty() const { return write == read; }
    void put(uint32_t value) { items[write++ % kSize] = value; }
    [[nodiscard]] uint32_t take() { return items[read++ % kSize]; }
  };
  /// Symbols of one kind in the current slice.
  struct Symbols {
    uint32_t total = 0;      // symbols in the slice
    uint32_t position = 0;   // symbols with a complete quotient
    uint32_t divisor = 0;    // bits of a remainder
    uint32_t quotient = 0;   // of a symbol that the last chunk left incomplete
    uint32_t completed = 0;  // quotients completed by the last chunk
    Queue quotients;         // complete quotients without remainder
    Queue values;
    void begin(uint32_t count, uint32_t bits);
    void complete();
  };

  /// Reads up to the next slice. At the end of the stream it returns kOk and sets *end.
  [[nodiscard]] WeightStatus header(bool* end);
  [[nodiscard]] WeightStatus palette();
  [[nodiscard]] WeightStatus chunk();
  [[nodiscard]] bool weight_quotients(uint32_t unary0);
  [[nodiscard]] bool zero_quotients();
  void remainders(Symbols* symbols, uint32_t count);
  [[nodiscard]] WeightStatus take_run();
  [[nodiscard]] WeightStatus take_weight(int32_t* weight);

  BitReader bits_;
  Symbols weights_, zeros_;
  uint32_t weights_left_ = 0;  // of the slice, not yet returned
  uint32_t zeros_left_ = 0;    // of the current run
  bool run_due_ = false;       // a zero run precedes the next weight
  bool zero_runs_ = false, uncompressed_ = false, truncated_ = false;
  bool has_palette_ = false;  // a slice has defined a palette
  uint32_t palette_size_ = 0, palette_bits_ = 0, direct_offset_ = 0;
  uint16_t palette_[32] = {};
};

}  // namespace thimble::ethos_u::sim
