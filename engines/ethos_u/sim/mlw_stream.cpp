// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/sim/mlw_stream.h"

#include <string.h>

namespace thimble::ethos_u::sim {
namespace {

constexpr uint32_t kZerosOff = 6;       // value of ZDIV
constexpr uint32_t kEndOfStream = 7;    // value of ZDIV
constexpr uint32_t kUncompressed = 7;   // value of WDIV
constexpr uint32_t kMaxIndex = 511;     // nine bits
constexpr uint32_t kMaxRun = 1U << 28;  // length of a zero run; more weights than any operation has
constexpr uint32_t kLead = 8;           // maximum lead of the weight quotients over the runs
constexpr uint32_t kUnaryBits = 12;

}  // namespace

const char* to_text(WeightStatus status) {
  switch (status) {
    case WeightStatus::kOk:
      return "no error";
    case WeightStatus::kTruncated:
      return "a weight or scale stream ends too early";
    case WeightStatus::kBadSlice:
      return "a slice of a weight stream has an invalid header";
    case WeightStatus::kBadValue:
      return "a weight has more than nine bits";
    case WeightStatus::kBadPadding:
      return "the padding of a weight stream is not zero";
    case WeightStatus::kNotSparse:
      return "weights of a sparse operation are not sparse";
    case WeightStatus::kTrailing:
      return "a weight stream has more weights than the operation";
    case WeightStatus::kBadOperation:
      return "the registers describe weights that this configuration does not support";
    case WeightStatus::kCapacity:
      return "no space for a block of weights";
  }
  return "";
}

uint32_t BitReader::take(uint32_t count) {
  if (left() < count) {
    failed_ = true;
    bit_ = bytes_.size * 8;
    return 0;
  }
  const uint64_t first = bit_ >> 3;
  const uint64_t rest = bytes_.size - first;
  uint8_t window[4] = {};
  memcpy(window, bytes_.data + first, rest < 4 ? static_cast<size_t>(rest) : 4);
  const uint32_t word = static_cast<uint32_t>(window[0]) | static_cast<uint32_t>(window[1]) << 8 |
                        static_cast<uint32_t>(window[2]) << 16 |
                        static_cast<uint32_t>(window[3]) << 24;
  const uint32_t value = word >> (bit_ & 7) & ((1U << count) - 1U);
  bit_ += count;
  return value;
}

void MlwStream::Symbols::begin(uint32_t count, uint32_t bits) {
  total = count;
  position = 0;
  divisor = bits;
  quotient = 0;
  completed = 0;
  quotients = {};
  values = {};
}

void MlwStream::Symbols::complete() {
  quotients.put(quotient);
  quotient = 0;
  ++completed;
  ++position;
}

void MlwStream::begin(Bytes bytes) {
  *this = {};
  bits_.begin(bytes);
}

WeightStatus MlwStream::palette() {
  direct_offset_ = bits_.take(5);
  palette_size_ = bits_.take(5);
  if (palette_size_ > 0) ++palette_size_;
  palette_bits_ = bits_.take(3) + 2;
  for (uint32_t i = 0; i < palette_size_; ++i) {
    palette_[i] = static_cast<uint16_t>(bits_.take(palette_bits_));
  }
  has_palette_ = true;
  return bits_.failed() ? WeightStatus::kTruncated : WeightStatus::kOk;
}

WeightStatus MlwStream::header(bool* end) {
  *end = bits_.left() < 3;
  if (*end) return WeightStatus::kOk;
  const uint32_t zdiv = bits_.take(3);
  *end = zdiv == kEndOfStream;
  if (*end) return WeightStatus::kOk;
  const uint32_t count = bits_.take(15) + 1;
  uint32_t wdiv = bits_.take(3);
  truncated_ = bits_.take(1) != 0;
  const bool new_palette = bits_.take(1) != 0;
  if (bits_.failed()) return WeightStatus::kTruncated;
  const bool runs = zdiv != kZerosOff;
  if ((runs && zdiv > 3) || wdiv == 6) return WeightStatus::kBadSlice;
  if (!new_palette && (!has_palette_ || runs != zero_runs_)) return WeightStatus::kBadSlice;
  zero_runs_ = runs;
  if (new_palette) {
    const WeightStatus status = palette();
    if (status != WeightStatus::kOk) return status;
  }
  uncompressed_ = wdiv == kUncompressed;
  if (uncompressed_) {
    wdiv = palette_bits_;
    if (palette_size_ > 0) {
      for (wdiv = 0; 1U << wdiv < palette_size_;) ++wdiv;
    }
  }
  weights_.begin(count, wdiv);
  zeros_.begin(runs ? count + (new_palette ? 1 : 0) : 0, runs ? zdiv : 0);
  weights_left_ = count;
  run_due_ = runs && new_palette;
  return WeightStatus::kOk;
}

/// Decodes quotients. Each bit of `unary0` is a step: 0 ends the quotient; 1 reads a bit of unary1
/// and adds 1 (and ends it) or 2 (and continues). With truncated quotients every step ends the
/// quotient.
bool MlwStream::weight_quotients(uint32_t unary0) {
  uint32_t ones = 0;
  for (uint32_t bit = 0; bit < kUnaryBits; ++bit) ones += unary0 >> bit & 1U;
  uint32_t unary1 = bits_.take(ones);
  const uint32_t steps = uncompressed_ && weights_.divisor > 5 ? 8 : kUnaryBits;
  for (uint32_t i = 0; i < steps && weights_.position < weights_.total; ++i) {
    uint32_t code = 0;
    if ((unary0 >> i & 1U) != 0) {
      code = 1 + (unary1 & 1U);
      unary1 >>= 1;
    }
    weights_.quotient += code;
    if (weights_.quotient > kMaxIndex) return false;
    if (code < 2 || truncated_) weights_.complete();
  }
  return true;
}

bool MlwStream::zero_quotients() {
  const uint32_t steps = zeros_.divisor == 3 ? 8 : kUnaryBits;
  const uint32_t unary = bits_.take(steps);
  for (uint32_t i = 0; i < steps && zeros_.position < zeros_.total; ++i) {
    if ((unary >> i & 1U) == 0) {
      zeros_.complete();
    } else if (++zeros_.quotient > kMaxRun >> 3) {
      return false;
    }
  }
  return true;
}

void MlwStream::remainders(Symbols* symbols, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t quotient = symbols->quotients.take();
    symbols->values.put(quotient << symbols->divisor | bits_.take(symbols->divisor));
  }
}

WeightStatus MlwStream::chunk() {
  const bool runs_behind = zero_runs_ && weights_.position >= zeros_.position + kLead;
  const bool weights_on = !runs_behind && weights_.position < weights_.total;
  const bool zeros_on =
      zero_runs_ && weights_.position >= zeros_.position && zeros_.position < zeros_.total;
  const uint32_t weights_before = weights_.completed;
  const uint32_t zeros_before = zeros_.completed;
  weights_.completed = 0;
  zeros_.completed = 0;
  const uint32_t unary0 = weights_on && !uncompressed_ ? bits_.take(kUnaryBits) : 0;
  if (zeros_on && !zero_quotients()) return WeightStatus::kBadValue;
  if (weights_on && !weight_quotients(unary0)) return WeightStatus::kBadValue;
  remainders(&weights_, weights_before);
  remainders(&zeros_, zeros_before);
  return bits_.failed() ? WeightStatus::kTruncated : WeightStatus::kOk;
}

WeightStatus MlwStream::take_run() {
  while (zeros_.values.empty()) {
    const WeightStatus status = chunk();
    if (status != WeightStatus::kOk) return status;
  }
  zeros_left_ = zeros_.values.take();
  run_due_ = false;
  return WeightStatus::kOk;
}

WeightStatus MlwStream::take_weight(int32_t* weight) {
  while (weights_.values.empty()) {
    const WeightStatus status = chunk();
    if (status != WeightStatus::kOk) return status;
  }
  const uint32_t index = weights_.values.take();
  if (index > kMaxIndex) return WeightStatus::kBadValue;
  const uint32_t folded =
      index < palette_size_ ? palette_[index] : index - palette_size_ + direct_offset_;
  if (folded > kMaxIndex) return WeightStatus::kBadValue;
  const auto magnitude = static_cast<int32_t>(folded >> 1);
  *weight = (folded & 1U) != 0 ? -magnitude : magnitude;
  --weights_left_;
  run_due_ = zero_runs_;
  return WeightStatus::kOk;
}

WeightStatus MlwStream::next(int32_t* weight) {
  while (true) {
    if (run_due_) {
      const WeightStatus status = take_run();
      if (status != WeightStatus::kOk) return status;
    }
    if (zeros_left_ > 0) {
      --zeros_left_;
      *weight = 0;
      return WeightStatus::kOk;
    }
    if (weights_left_ > 0) return take_weight(weight);
    bool end = false;
    const WeightStatus status = header(&end);
    if (status != WeightStatus::kOk) return status;
    if (end) return WeightStatus::kTruncated;
  }
}

WeightStatus MlwStream::finish() {
  if (run_due_) {
    const WeightStatus status = take_run();
    if (status != WeightStatus::kOk) return status;
  }
  if (zeros_left_ > 0 || weights_left_ > 0) return WeightStatus::kTrailing;
  bool end = false;
  const WeightStatus status = header(&end);
  if (status != WeightStatus::kOk) return status;
  return end ? WeightStatus::kOk : WeightStatus::kTrailing;
}

}  // namespace thimble::ethos_u::sim
