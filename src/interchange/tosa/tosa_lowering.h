// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lowers a graph to TOSA operator by operator: one function per kind of operator, in one file per
// family (tosa_*.cpp). Each function records a tensor for the operator's result in Layouts.
// Operators with float operands have TOSA's floating-point operators; data movement is the same for
// both.

#include <optional>
#include <string>
#include <vector>

#include "interchange/op_lowering.h"
#include "interchange/tosa/tosa_builder.h"

namespace thimble::interchange {

/// Attribute values as the schema stores them.
[[nodiscard]] inline formats::tosa::Ints ints(const std::vector<int64_t>& values) {
  return {values.begin(), values.end()};
}

class TosaLowering : private OpLowering {
 public:
  explicit TosaLowering(const StatelessGraph& core) : OpLowering(core, b_, "TOSA") {}

  Result<Bytes> run();

 private:
  using DType = formats::tosa::DType;
  using Op = formats::tosa::Op;

  Status lower_other() override;

  // tosa_weighted.cpp
  Status convolution() override;
  Status transposed_convolution() override;
  Status linear() override;
  Status matmul() override;
  int bias_part(int64_t start, int64_t count);
  Result<int> requantize_channels(int acc, int64_t start, int64_t count);

  // tosa_elementwise.cpp
  Status add_or_subtract() override;
  Status multiply() override;
  Status divide();
  Status prelu() override;
  Status lookup_table() override;
  Status table16();
  Status max_or_min() override;
  Status compare() override;
  Status logical() override;
  Status where() override;
  Status rescale_codes() override;
  int divided(int a, int b);

  // tosa_movement.cpp
  Status reshape() override;
  Status slice() override;
  Status concat() override;
  Status pad() override;
  Status expand() override;
  Status gather() override;
  Status gather_elements();
  Result<int> positions(size_t operand, int64_t size);

  // tosa_pool.cpp
  Status pool() override;
  Status adaptive_pool();
  Status mean() override;
  Status reduce_max_or_min() override;
  Status arg_max_or_min() override;
  Status running_sum();
  Status resize();
  int dilated_max(int x, int64_t rows, int64_t columns);
  int windows_mean(int x);
  int interpolated(int x, int axis, const ir::Tensor& low, const ir::Tensor& weight);

  // tosa_softmax.cpp
  Status softmax() override;

  // tosa_norm.cpp
  Status norm();
  Status variance();

  // tosa_recurrent.cpp
  Status recurrent();

  // tosa_float.cpp
  Status lower_float();
  Status float_matmul();
  Status float_function();
  Status float_clamp();
  Status float_softmax();
  Status float_norm();
  Status float_group_norm();
  Status float_statistics();
  Status float_pair(Op op);
  int float_mean(int x, const std::vector<int>& axes);
  int normalized(int x, const std::vector<int>& axes, bool centered);

  // Accessors for the current operator, in addition to OpLowering.
  using OpLowering::logical;
  [[nodiscard]] DType result_type() const { return tosa_type(graph_.type(op_->output).dtype); }
  /// Returns operand i with the rank of the result, in `order`, an order of the result's
  /// dimensions.
  int broadcastable(size_t i, const ir::DimOrder& order);
  [[nodiscard]] formats::tosa::Rounding rounding() const;
  /// Element type of accumulators: int48 for 16-bit activations, fp32 for float, else int32.
  [[nodiscard]] DType sums_type() const {
    return is_float() ? DType::kFp32 : wide() ? DType::kInt48 : DType::kInt32;
  }
  /// Returns the zero point as a constant; always 0 for 16-bit activations and float.
  int zero_constant(int64_t zero_point = 0);
  /// Requantizes 32-bit sums to the result type, clamped to min and max.
  int requantized(int sums, const std::vector<Multiplier>& multipliers, bool narrow = false);
  int multiplied(int x, Multiplier factor, formats::tosa::Rounding rounding);

  TosaBuilder b_;
};

}  // namespace thimble::interchange
