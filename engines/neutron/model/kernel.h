#pragma once
// A kernel with resolved addresses, and one function per kernel type.

#include "engines/neutron/model/arithmetic.h"
#include "engines/neutron/container/program.h"

namespace thimble::neutron::model {

struct Work {
  KernelRecord record;
  const uint8_t* weights;     // the weights block
  const uint8_t* prefetched;  // replaces [prefetch_from, + prefetch_bytes) of it; may be null
  const int8_t* a;            // these point to element [0, 0, ...] of their views
  const int8_t* b;
  int8_t* y;
  int8_t* outside;

  [[nodiscard]] const uint8_t* constants(uint32_t offset) const {
    const uint32_t into = offset - record.prefetch_from;
    if (prefetched != nullptr && into < record.prefetch_bytes) return prefetched + into;
    return weights + offset;
  }
  [[nodiscard]] Factor factor(uint32_t which) const {
    return {record.multiplier[which], record.shift[which]};
  }
  [[nodiscard]] bool single() const { return record.rounding == 1; }
};

/// Final step for a scaled sum: zero point, clamp, table.
class Finish {
 public:
  explicit Finish(const Work& work)
      : table_(work.record.table == kAbsent
                   ? nullptr
                   : reinterpret_cast<const int8_t*>(work.constants(work.record.table)) + 128),
        zero_point_(work.record.y_zero_point),
        min_(work.record.min),
        max_(work.record.max) {}

  /// Finishes a value to which the zero point has not been added yet.
  [[nodiscard]] int8_t operator()(int32_t value) const {
    return code(wrapping_add(value, zero_point_));
  }
  /// Finishes a quantized value that may exceed the range.
  [[nodiscard]] int8_t code(int32_t value) const {
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
  explicit Channels(const Work& work)
      : finish_(work),
        all_(work.factor(2)),
        bias_(work.record.bias == kAbsent ? nullptr : work.constants(work.record.bias)),
        multipliers_(work.record.scale_count == 0 ? nullptr
                                                  : work.constants(work.record.multipliers)),
        shifts_(work.record.scale_count == 0 ? nullptr : work.constants(work.record.shifts)),
        per_channel_(work.record.scale_count > 1),
        single_(work.single()) {}

  [[nodiscard]] uint32_t begin(uint32_t channel) const {
    return bias_ == nullptr ? 0 : static_cast<uint32_t>(int_at(bias_, channel));
  }
  [[nodiscard]] int8_t end(uint32_t sum, uint32_t channel) const {
    return finish_(scaled(static_cast<int32_t>(sum), factor_of(channel), single_));
  }

 private:
  [[nodiscard]] Factor factor_of(uint32_t channel) const {
    if (multipliers_ == nullptr) return all_;
    const uint32_t index = per_channel_ ? channel : 0;
    return {int_at(multipliers_, index), int_at(shifts_, index)};
  }

  Finish finish_;
  Factor all_;
  const uint8_t* bias_;
  const uint8_t* multipliers_;
  const uint8_t* shifts_;
  bool per_channel_;
  bool single_;
};

void convolution(const Work& work);
void depthwise(const Work& work);
void transposed_convolution(const Work& work);
void fully_connected(const Work& work);
void batch_matmul(const Work& work);

void add(const Work& work);  // Add and Sub
void multiply(const Work& work);
void maximum(const Work& work);  // Maximum and Minimum
void prelu(const Work& work);
void table(const Work& work);
void rescale(const Work& work);

void max_pool(const Work& work);
void average_pool(const Work& work);
void mean(const Work& work);
void extreme(const Work& work);  // ReduceMax and ReduceMin
void softmax(const Work& work);

void copy(const Work& work);
void pad(const Work& work);
void mirror_pad(const Work& work);
void resize_nearest(const Work& work);
void resize_bilinear(const Work& work);

}  // namespace thimble::neutron::model
