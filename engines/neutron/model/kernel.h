// SPDX-License-Identifier: Apache-2.0
#pragma once
// A kernel with resolved addresses, and one function per kernel type.

#include "engines/neutron/container/program.h"
#include "engines/neutron/model/arithmetic.h"

namespace thimble::neutron::model {

struct KernelArgs {
  KernelRecord record;
  const uint8_t* weights;     // the weights block
  const uint8_t* prefetched;  // replaces [prefetch_from, + prefetch_bytes) of it; may be null
  const int8_t* a;            // these point to element [0, 0, ...] of their views
  const int8_t* b;
  int8_t* y;
  int8_t* padded;

  [[nodiscard]] const uint8_t* constants(uint32_t offset) const {
    const uint32_t into = offset - record.prefetch_from;
    if (prefetched != nullptr && into < record.prefetch_bytes) return prefetched + into;
    return weights + offset;
  }
  [[nodiscard]] Multiplier multiplier(uint32_t which) const {
    return {record.multiplier[which], record.shift[which]};
  }
  [[nodiscard]] bool rounds_once() const { return record.rounding == 1; }
};

/// Final step for a scaled sum: zero point, clamp, table.
class OutputStage {
 public:
  explicit OutputStage(const KernelArgs& args)
      : table_(args.record.table == kAbsent
                   ? nullptr
                   : reinterpret_cast<const int8_t*>(args.constants(args.record.table)) + 128),
        zero_point_(args.record.y_zero_point),
        min_(args.record.min),
        max_(args.record.max) {}

  /// Finishes a value to which the zero point has not been added yet.
  [[nodiscard]] int8_t operator()(int32_t value) const {
    return clamp_and_map(wrapping_add(value, zero_point_));
  }
  /// Finishes a quantized value that may exceed the range.
  [[nodiscard]] int8_t clamp_and_map(int32_t value) const {
    const int32_t clamped = value < min_ ? min_ : value > max_ ? max_ : value;
    return table_ == nullptr ? static_cast<int8_t>(clamped) : table_[clamped];
  }

 private:
  const int8_t* table_;  // points to the entry for the value 0
  int32_t zero_point_;
  int32_t min_;
  int32_t max_;
};

/// Per-channel start (bias) and requantization of sums in kernels with weights.
class Channels {
 public:
  explicit Channels(const KernelArgs& args)
      : finish_(args),
        all_(args.multiplier(2)),
        bias_(args.record.bias == kAbsent ? nullptr : args.constants(args.record.bias)),
        multipliers_(args.record.scale_count == 0 ? nullptr
                                                  : args.constants(args.record.multipliers)),
        shifts_(args.record.scale_count == 0 ? nullptr : args.constants(args.record.shifts)),
        per_channel_(args.record.scale_count > 1),
        single_(args.rounds_once()) {}

  [[nodiscard]] uint32_t begin(uint32_t channel) const {
    return bias_ == nullptr ? 0 : static_cast<uint32_t>(int_at(bias_, channel));
  }
  [[nodiscard]] int8_t end(uint32_t sum, uint32_t channel) const {
    return finish_(scaled(static_cast<int32_t>(sum), multiplier_of(channel), single_));
  }

 private:
  [[nodiscard]] Multiplier multiplier_of(uint32_t channel) const {
    if (multipliers_ == nullptr) return all_;
    const uint32_t index = per_channel_ ? channel : 0;
    return {int_at(multipliers_, index), int_at(shifts_, index)};
  }

  OutputStage finish_;
  Multiplier all_;
  const uint8_t* bias_;
  const uint8_t* multipliers_;
  const uint8_t* shifts_;
  bool per_channel_;
  bool single_;
};

void convolution(const KernelArgs& args);
void depthwise(const KernelArgs& args);
void transposed_convolution(const KernelArgs& args);
void fully_connected(const KernelArgs& args);
void batch_matmul(const KernelArgs& args);

void add_or_subtract(const KernelArgs& args);
void multiply(const KernelArgs& args);
void maximum_or_minimum(const KernelArgs& args);
void prelu(const KernelArgs& args);
void table(const KernelArgs& args);
void rescale(const KernelArgs& args);

void max_pool(const KernelArgs& args);
void average_pool(const KernelArgs& args);
void mean(const KernelArgs& args);
void reduce_max_min(const KernelArgs& args);  // ReduceMax and ReduceMin
void softmax(const KernelArgs& args);

void copy(const KernelArgs& args);
void pad(const KernelArgs& args);
void mirror_pad(const KernelArgs& args);
void resize_nearest(const KernelArgs& args);
void resize_bilinear(const KernelArgs& args);

}  // namespace thimble::neutron::model
