#pragma once
// What the type rules share. One function per row of ops.def, in infer_<family>.cpp; a row without
// a rule does not link. Rules are called with operands and attributes that fit the row.

#include <array>
#include <string>

#include "ir/infer.h"

namespace thimble::ir {

/// An operator about to be checked, with short names for what rules ask.
class Candidate {
 public:
  Candidate(std::span<const Value* const> operands, const Op& op) : operands_(operands), op_(op) {}

  [[nodiscard]] size_t count() const { return operands_.size(); }
  [[nodiscard]] bool has(size_t i) const { return operands_[i] != nullptr; }
  [[nodiscard]] const Value& value(size_t i) const { return *operands_[i]; }
  [[nodiscard]] const Type& type(size_t i) const { return operands_[i]->type; }
  [[nodiscard]] const Shape& shape(size_t i) const { return operands_[i]->type.shape; }
  [[nodiscard]] const Op& op() const { return op_; }
  [[nodiscard]] int64_t integer(std::string_view name) const { return op_.integer(name); }

  /// `w (%conv.weight) is f32[8,3,3,3]`: the start of most messages.
  [[nodiscard]] std::string describe(size_t i) const;

  [[nodiscard]] Status expect_dtype(size_t i, DType dtype) const;
  [[nodiscard]] Status expect_rank(size_t i, size_t rank) const;
  [[nodiscard]] Status expect_shape(size_t i, const Shape& shape) const;
  [[nodiscard]] Status expect_constant(size_t i) const;
  [[nodiscard]] Status expect_range(std::string_view attr, int64_t low, int64_t high) const;
  /// Attribute `dim` is a dimension of operand i.
  [[nodiscard]] Result<size_t> dimension(size_t i) const;
  /// Attribute `dims`: different dimensions of operand i, at least one; true where named.
  [[nodiscard]] Result<std::vector<bool>> dimensions(size_t i) const;

 private:
  std::span<const Value* const> operands_;
  const Op& op_;
};

/// A 2-D window over operand 0, which must have rank 4; checked and with its output size.
struct Window {
  std::array<int64_t, 2> kernel{}, stride{}, dilation{1, 1}, before{}, after{}, output{};
};
/// `kernel` from the attribute for pools, given for convolutions.
[[nodiscard]] Result<Window> convolution_window(const Candidate& c, int64_t kernel_h,
                                                int64_t kernel_w);
[[nodiscard]] Result<Window> pool_window(const Candidate& c);

/// Rules that float and integer operators have in common: the result's shape.
[[nodiscard]] Result<Shape> broadcast_rule(const Candidate& c);
[[nodiscard]] Result<Shape> convolution_rule(const Candidate& c);
[[nodiscard]] Result<Shape> linear_rule(const Candidate& c);
[[nodiscard]] Result<Shape> matmul_rule(const Candidate& c);
[[nodiscard]] Result<Shape> pool_rule(const Candidate& c);
[[nodiscard]] Result<Shape> mean_rule(const Candidate& c);

/// Float arithmetic: every operand f32, an f32 result of the rule's shape.
[[nodiscard]] Result<Type> float_result(const Candidate& c,
                                        Result<Shape> (*rule)(const Candidate&));
[[nodiscard]] Result<Shape> same_shape(const Candidate& c);  // as operand 0
/// The shape of operand 0, whose dimension `dim` exists.
[[nodiscard]] Result<Shape> along_dim(const Candidate& c);
/// Movement of data: operand 0's element type and per-tensor quantization under another shape. (A
/// channel axis may have moved: quantization along one does not survive.)
[[nodiscard]] std::optional<Quant> kept_quant(const Type& type);
[[nodiscard]] Type moved(const Candidate& c, Shape shape);
/// Integer arithmetic.
[[nodiscard]] Type int8_result(Shape shape);
[[nodiscard]] Status check_zero_point(const Candidate& c, std::string_view name);
[[nodiscard]] Status check_clamp(const Candidate& c);  // attributes `min` and `max`
[[nodiscard]] Status check_multiplier(const Candidate& c, std::string_view mult,
                                      std::string_view shift);
[[nodiscard]] Status check_rounding(const Candidate& c);
/// Operators that may round halves to even (infer_even.cpp): what `rounding` 2 asks of the numbers,
/// or that attributes which go with it are not set.
[[nodiscard]] bool is_even(const Candidate& c);
[[nodiscard]] Status check_even_or_not(const Candidate& c);
/// `mult` by 2^-shift, and y_zp * 2^shift in 32 bits.
[[nodiscard]] Status check_even_multiplier(const Candidate& c, std::string_view mult,
                                           std::string_view shift);
[[nodiscard]] Status check_even_channels(const Candidate& c, int64_t channels);
[[nodiscard]] Type even_result(const Candidate& c, Shape shape);  // as wide as `bytes` says
/// Operands `mult` and `shift`, numbers 3 and 4: one entry, or one per output channel.
[[nodiscard]] Status check_channel_multipliers(const Candidate& c, int64_t channels);
/// sum |w| of one output channel.
using Magnitude = int64_t (*)(const Candidate& c, std::span<const int8_t> w, int64_t channel);
/// Operands and attributes of qconv2d and its kin, whose shapes are known to fit: `terms` products
/// make one accumulator, which must not leave 32 bits.
[[nodiscard]] Status check_weighted(const Candidate& c, int64_t channels, int64_t terms,
                                    Magnitude magnitude_of);
/// Integer arithmetic with 16-bit activations: results, attributes `min` and `max`, the multiplier
/// of requantize64, and operands b, mult and shift of qconv2d16 and its kin.
[[nodiscard]] Type int16_result(Shape shape);
[[nodiscard]] Status check_clamp16(const Candidate& c);
[[nodiscard]] Status check_multiplier64(const Candidate& c);
[[nodiscard]] Status check_weighted16(const Candidate& c, int64_t channels, int64_t terms);
/// Operand 0 has codes: i8 or i16.
[[nodiscard]] Status expect_codes(const Candidate& c);
/// Operand 1 repeats to the shape of operand 0.
[[nodiscard]] Result<Shape> repeated_shape(const Candidate& c);

#define THIMBLE_OP(name, operands, attributes) Result<Type> infer_##name(const Candidate& c);
#include "ir/ops.def"
#undef THIMBLE_OP

}  // namespace thimble::ir
