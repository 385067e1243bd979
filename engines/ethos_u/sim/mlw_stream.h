#pragma once
// The MLW bit stream: slices of Golomb-Rice coded weights, with palettes and runs of zeros.
//
// A slice is a header and a sequence of chunks. A chunk holds up to twelve unary quotients of the
// weights, up to twelve (eight) bits of unary quotients of the zero runs, and then the remainders
// of the quotients that the chunk before completed. So the decoder runs at most one chunk ahead of
// what it hands out, and its queues are short.

#include <stddef.h>
#include <stdint.h>

#include "engines/ethos_u/sim/weight_status.h"

namespace thimble::ethos_u::sim {

/// Bits of a stream, the lowest of a byte first. Never reads behind the end.
class BitReader {
 public:
  void begin(Bytes bytes) {
    bytes_ = bytes;
    bit_ = 0;
    failed_ = false;
  }
  /// `count` <= 16 bits; zeros and failed() if there are fewer.
  [[nodiscard]] uint32_t take(uint32_t count);
  void align_to_byte() { bit_ = (bit_ + 7) & ~uint64_t{7}; }
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
  /// The next weight.
  [[nodiscard]] WeightStatus next(int32_t* weight);
  /// True if no weight is left, in good order.
  [[nodiscard]] WeightStatus finish();

 private:
  /// Quotients or values that wait: weights are at most 7 + 12 symbols ahead of the runs and runs
  /// 12 ahead of the weights, both with one more chunk without remainders.
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
    uint32_t total = 0;      // of the slice
    uint32_t position = 0;   // whose quotient is complete
    uint32_t divisor = 0;    // bits of a remainder
    uint32_t quotient = 0;   // of the symbol that the last chunk did not finish
    uint32_t completed = 0;  // quotients that the last chunk completed
    Queue quotients;         // complete, without their remainder
    Queue values;
    void begin(uint32_t count, uint32_t bits);
    void complete();
  };

  /// Reads on to the next slice; kOk and *end at the end of the stream.
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
  uint32_t weights_left_ = 0;  // of the slice, not handed out
  uint32_t zeros_left_ = 0;    // of the current run
  bool run_due_ = false;       // a run of zeros comes before the next weight
  bool zero_runs_ = false, uncompressed_ = false, truncated_ = false;
  bool has_palette_ = false;  // a slice defined one
  uint32_t palette_size_ = 0, palette_bits_ = 0, direct_offset_ = 0;
  uint16_t palette_[32] = {};
};

}  // namespace thimble::ethos_u::sim
