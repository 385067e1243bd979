// SPDX-License-Identifier: Apache-2.0
#pragma once
// Loads and stores of elements, and requantization of sums.

#include "engines/axon/container/layers.h"

namespace thimble::axon::model {

inline int32_t load(const uint8_t* at, uint32_t element_bytes) {
  if (element_bytes == 1) return static_cast<int8_t>(*at);
  if (element_bytes == 2) {
    int16_t value;
    memcpy(&value, at, sizeof value);
    return value;
  }
  int32_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

inline void store(uint8_t* at, uint32_t element_bytes, int32_t value) {
  memcpy(at, &value, element_bytes);
}

/// Returns value / 2^shift, rounded half to even.
constexpr int64_t shift_half_even(int64_t value, uint32_t shift) {
  if (shift == 0) return value;
  const int64_t whole = value >> shift;
  const int64_t rest = value - whole * (int64_t{1} << shift);
  const int64_t half = int64_t{1} << (shift - 1);
  return whole + (rest > half || (rest == half && (whole & 1) != 0) ? 1 : 0);
}

constexpr int32_t saturate(int64_t value, uint32_t element_bytes) {
  const int64_t top = (int64_t{1} << (8 * element_bytes - 1)) - 1;
  if (value > top) return static_cast<int32_t>(top);
  return value < -top - 1 ? static_cast<int32_t>(-top - 1) : static_cast<int32_t>(value);
}

/// Requantization of a layer: converts sums to output elements.
class Scale {
 public:
  Scale(const LayerRecord& layer, const uint8_t* constants)
      : multipliers_(constants + layer.multipliers),
        shifts_(constants + layer.shifts),
        per_channel_(layer.scale_shift_count > 1),
        activation_(layer.activation),
        zero_point_(layer.output.zero_point),
        element_bytes_(layer.output.element_bytes) {}

  /// Requantizes the int32 `sum` with the multiplier of `channel`.
  [[nodiscard]] int32_t operator()(int32_t sum, uint32_t channel) const {
    const uint32_t index = per_channel_ ? channel : 0;
    const bool leaky = activation_ == Activation::kLeakyRelu;
    const uint32_t which = leaky ? 2 * index + (sum < 0 ? 0 : 1) : index;
    return finish(int64_t{sum} * load(multipliers_ + 4 * which, 4), shifts_[index]);
  }

  /// Adds the zero point, shifts, saturates and applies the activation.
  [[nodiscard]] int32_t finish(int64_t scaled, uint32_t shift) const {
    const int64_t with_zero = scaled + zero_point_ * (int64_t{1} << shift);
    const int32_t value = saturate(shift_half_even(with_zero, shift), element_bytes_);
    return activation_ == Activation::kRelu && value < zero_point_ ? zero_point_ : value;
  }

  [[nodiscard]] int32_t multiplier(uint32_t index) const {
    return load(multipliers_ + 4 * index, 4);
  }
  [[nodiscard]] uint32_t shift() const { return shifts_[0]; }

 private:
  const uint8_t* multipliers_;
  const uint8_t* shifts_;
  bool per_channel_;
  Activation activation_;
  int32_t zero_point_;
  uint32_t element_bytes_;
};

/// The NPU's 32-bit accumulator; it wraps on overflow.
class Accumulator {
 public:
  explicit Accumulator(int32_t from) : sum_(static_cast<uint32_t>(from)) {}
  void add(int32_t value) { sum_ += static_cast<uint32_t>(value); }
  [[nodiscard]] int32_t sum() const { return static_cast<int32_t>(sum_); }

 private:
  uint32_t sum_;
};

inline int32_t bias_of(const LayerRecord& layer, const uint8_t* constants, uint32_t channel) {
  return layer.bias == kAbsent ? 0 : load(constants + layer.bias + 4 * channel, 4);
}

}  // namespace thimble::axon::model
