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
class OutputStage {
 public:
  explicit OutputStage(const KernelArgs& work)
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
  explicit Channels(const KernelArgs& work)
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

  OutputStage finish_;
  Factor all_;
  const uint8_t* bias_;
  const uint8_t* multipliers_;
  const uint8_t* shifts_;
  bool per_channel_;
  bool single_;
};

void convolution(const KernelArgs& work);
void depthwise(const KernelArgs& work);
void transposed_convolution(const KernelArgs& work);
void fully_connected(const KernelArgs& work);
void batch_matmul(const KernelArgs& work);

void add(const KernelArgs& work);  // Add and Sub
void multiply(const KernelArgs& work);
void maximum(const KernelArgs& work);  // Maximum and Minimum
void prelu(const KernelArgs& work);
void table(const KernelArgs& work);
void rescale(const KernelArgs& work);

void max_pool(const KernelArgs& work);
void average_pool(const KernelArgs& work);
void mean(const KernelArgs& work);
void reduce_max_min(const KernelArgs& work);  // ReduceMax and ReduceMin
void softmax(const KernelArgs& work);

void copy(const KernelArgs& work);
void pad(const KernelArgs& work);
void mirror_pad(const KernelArgs& work);
void resize_nearest(const KernelArgs& work);
void resize_bilinear(const KernelArgs& work);

}  // namespace thimble::neutron::model
