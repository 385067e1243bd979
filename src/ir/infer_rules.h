// SPDX-License-Identifier: Apache-2.0
#pragma once
// Helpers shared by the type rules. infer_<family>.cpp holds one function per row of ops.def; a row
// without a rule fails to link. Operands and attributes are checked against the row before a rule
// is called.

#include <array>
#include <string>

#include "ir/infer.h"

namespace thimble::ir {

/// An operator to be checked, with short accessors for the type rules.
class InferContext {
 public:
  InferContext(std::span<const Value* const> operands, const Op& op)
      : operands_(operands), op_(op) {}

  [[nodiscard]] size_t count() const { return operands_.size(); }
  [[nodiscard]] bool has(size_t i) const { return operands_[i] != nullptr; }
  [[nodiscard]] const Value& value(size_t i) const { return *operands_[i]; }
  [[nodiscard]] const Type& type(size_t i) const { return operands_[i]->type; }
  [[nodiscard]] const Shape& shape(size_t i) const { return operands_[i]->type.shape; }
  [[nodiscard]] const Op& op() const { return op_; }
  template <typename T>
  [[nodiscard]] const T& get(AttrKey<T> key) const {
    return op_.get(key);
  }

  /// Returns `w (%conv.weight) is f32[8,3,3,3]`, the start of most messages.
  [[nodiscard]] std::string describe(size_t i) const;

  [[nodiscard]] Status expect_dtype(size_t i, DType dtype) const;
  /// Checks the first `count` operands; optional ones may be absent.
  [[nodiscard]] Status expect_dtypes(size_t count, DType dtype) const;
  [[nodiscard]] Status expect_rank(size_t i, size_t rank) const;
  [[nodiscard]] Status expect_shape(size_t i, const Shape& shape) const;
  [[nodiscard]] Status expect_constant(size_t i) const;
  [[nodiscard]] Status expect_range(AttrKey<int64_t> key, int64_t low, int64_t high) const;
  /// Checks that the attribute is a list of `count` numbers from `low` to kEntryMax.
  [[nodiscard]] Status expect_integers(AttrKey<std::vector<int64_t>> key, size_t count,
                                       int64_t low) const;
  /// Returns attribute `dim` after checking that it is a dimension of operand i.
  [[nodiscard]] Result<size_t> dimension(size_t i) const;
  /// Checks that attribute `dims` lists one or more distinct dimensions of operand i. Returns true
  /// for each listed dimension.
  [[nodiscard]] Result<std::vector<bool>> dimensions(size_t i) const;

 private:
  std::span<const Value* const> operands_;
  const Op& op_;
};

/// A checked 2-D window over operand 0, which must have rank 4, and its output size.
struct Window {
  std::array<int64_t, 2> kernel{}, stride{}, dilation{1, 1}, before{}, after{}, output{};
};
/// Kernel sizes are parameters for convolutions; pool_window() reads them from attribute `kernel`.
[[nodiscard]] Result<Window> convolution_window(const InferContext& c, int64_t kernel_h,
                                                int64_t kernel_w);
[[nodiscard]] Result<Window> pool_window(const InferContext& c);

/// Rules shared by float and integer operators; each returns the shape of the result.
[[nodiscard]] Result<Shape> broadcast_rule(const InferContext& c);
[[nodiscard]] Result<Shape> convolution_rule(const InferContext& c);
[[nodiscard]] Result<Shape> linear_rule(const InferContext& c);
[[nodiscard]] Result<Shape> matmul_rule(const InferContext& c);
[[nodiscard]] Result<Shape> pool_rule(const InferContext& c);
[[nodiscard]] Result<Shape> mean_rule(const InferContext& c);

/// Checks that every operand is f32. `rule` returns the shape of the f32 result.
[[nodiscard]] Result<Type> float_result(const InferContext& c,
                                        Result<Shape> (*rule)(const InferContext&));
[[nodiscard]] Result<Shape> same_shape(const InferContext& c);  // as operand 0
/// The shape of operand 0, whose dimension `dim` exists.
[[nodiscard]] Result<Shape> along_dim(const InferContext& c);
/// Movement of data: operand 0's element type and per-tensor quantization under another shape. (A
/// channel axis may have moved: quantization along one does not survive.)
[[nodiscard]] std::optional<Quant> kept_quant(const Type& type);
[[nodiscard]] Type data_movement_type(const InferContext& c, Shape shape);
/// Integer arithmetic with int8 activations.
[[nodiscard]] Type int8_result(Shape shape);
[[nodiscard]] Status check_zero_point(const InferContext& c, AttrKey<int64_t> key);
[[nodiscard]] Status check_clamp(const InferContext& c);  // attributes `min` and `max`
[[nodiscard]] Status check_multiplier(const InferContext& c, const MultiplierKeys& keys);
/// Checks weight_bits and weight_group: 8, or 4 with the weights of the operand in [-8, 7], or with
/// such weights times a factor for each group.
[[nodiscard]] Status check_weight_bits(const InferContext& c, size_t operand);
/// Checks the attributes of an integer softmax. `difference_max` is the largest difference of two
/// operand values.
[[nodiscard]] Status check_softmax(const InferContext& c, int64_t difference_max);
[[nodiscard]] Status check_rounding(const InferContext& c);
/// Operators that may round halves to even (infer_half_even.cpp). check_half_even_attrs() checks
/// the numbers that `rounding` 2 requires; for other roundings it checks that the related
/// attributes are not set.
[[nodiscard]] bool rounds_half_to_even(const InferContext& c);
[[nodiscard]] Status check_half_even_attrs(const InferContext& c);
/// Checks the factor `mult` * 2^-shift, and that y_zp * 2^shift fits 32 bits.
[[nodiscard]] Status check_half_even_multiplier(const InferContext& c, const MultiplierKeys& keys);
[[nodiscard]] Status check_half_even_channels(const InferContext& c, int64_t channels);
[[nodiscard]] Type half_even_result(const InferContext& c,
                                    Shape shape);  // width: attribute `bytes`
/// Checks operands `mult` and `shift` (indices 3 and 4): one entry, or one per output channel.
[[nodiscard]] Status check_channel_multipliers(const InferContext& c, int64_t channels);
/// Returns sum |w| of one output channel.
using Magnitude = int64_t (*)(const InferContext& c, std::span<const int8_t> w, int64_t channel);
/// Checks operands and attributes of qconv2d and similar operators, whose shapes are already
/// checked. An accumulator is the sum of `terms` products and must fit 32 bits.
[[nodiscard]] Status check_weighted(const InferContext& c, int64_t channels, int64_t terms,
                                    Magnitude magnitude_of);
/// Integer arithmetic with 16-bit activations: results, attributes `min` and `max`, the multiplier
/// of requantize64, and operands b, mult and shift of qconv2d16 and similar operators.
[[nodiscard]] Type int16_result(Shape shape);
[[nodiscard]] Status check_clamp16(const InferContext& c);
[[nodiscard]] Status check_multiplier64(const InferContext& c);
[[nodiscard]] Status check_weighted16(const InferContext& c, int64_t channels, int64_t terms);
/// Checks that operand 0 is i8 or i16.
[[nodiscard]] Status expect_quantized(const InferContext& c);
/// Checks that operand 1 broadcasts to the shape of operand 0.
[[nodiscard]] Result<Shape> broadcast_to_first(const InferContext& c);

#define THIMBLE_OP(name, category, operands, attributes) \
  Result<Type> infer_##name(const InferContext& c);
#include "ir/ops.def"
#undef THIMBLE_OP

}  // namespace thimble::ir
