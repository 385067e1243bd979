// SPDX-License-Identifier: Apache-2.0
#pragma once
// Builds the graph: adds operators, folds data movement on constants, and omits data movement that
// has no effect. A quantized constant remains a `dequantize` of its quantized values. Data movement
// is applied to the quantized values, so that no precision is lost.

#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace thimble::import_pt2 {

class Builder {
 public:
  // The constants of a model have at most kConstantBytesBase + kConstantBytesPerByte *
  // archive_bytes bytes. This bounds the memory that a small archive can need.
  static constexpr int64_t kConstantBytesBase = int64_t{8} << 20;
  static constexpr int64_t kConstantBytesPerByte = 32;
  // Import computes at most this many numbers for each byte that constants may have. This bounds
  // the time that a small archive can need.
  static constexpr int64_t kComputedPerByte = 4;

  explicit Builder(int64_t archive_bytes)
      : constant_bytes_max_(kConstantBytesBase + kConstantBytesPerByte * archive_bytes),
        computed_max_(kComputedPerByte * constant_bytes_max_),
        computed_left_(computed_max_) {}

  ir::Graph graph;

  Result<ir::ValueId> add(ir::OpKind kind, std::vector<ir::ValueId> inputs, ir::Attrs attrs,
                          const ir::Source& source, const std::string& name);
  ir::ValueId constant(const std::string& name, ir::Tensor tensor);

  /// Returns the bytes that further constants may have; negative if the limit is exceeded.
  [[nodiscard]] int64_t constant_bytes_left() const {
    return constant_bytes_max_ - constant_bytes_;
  }
  /// Returns the limit of the constants as the reason of a refusal.
  [[nodiscard]] std::string limit_of_constants() const;
  /// Returns the largest number of elements of a tensor of 64-bit integers that is computed at
  /// import. Eight such tensors have as many bytes as the constants may have.
  [[nodiscard]] int64_t known_elements_max() const {
    return constant_bytes_max_ / (8 * static_cast<int64_t>(sizeof(int64_t)));
  }
  /// Counts numbers that the caller will compute. Not supported if all of them exceed their limit.
  [[nodiscard]] Status count_computed(int64_t numbers);

  /// Returns null if the value is not a constant.
  [[nodiscard]] const ir::Tensor* constant_of(ir::ValueId id) const;
  /// Same, and also returns the real numbers of a quantized constant. Valid while the builder
  /// exists.
  const ir::Tensor* known(ir::ValueId id);
  /// Returns the producer of a value; null for inputs and constants. Valid until the next `add`.
  [[nodiscard]] const ir::Op* producer(ir::ValueId id) const;
  [[nodiscard]] const ir::Shape& shape(ir::ValueId id) const { return graph.type(id).shape; }

 private:
  /// Returns true if the value is a dequantize of a constant.
  [[nodiscard]] bool is_quantized_constant(ir::ValueId id) const;
  /// Applies data movement to the quantized values of a constant and updates the axis. Returns
  /// kNoValue if that is not possible.
  Result<ir::ValueId> move_codes(ir::OpKind kind, ir::ValueId input, const ir::Attrs& attrs,
                                 const std::string& name);
  bool moves_nothing(ir::OpKind kind, ir::ValueId input, const ir::Attrs& attrs) const;

  int64_t constant_bytes_ = 0;
  int64_t constant_bytes_max_;
  int64_t computed_max_, computed_left_;
  std::map<ir::ValueId, ir::TensorPtr> known_;  // real numbers of quantized constants
};

}  // namespace thimble::import_pt2
