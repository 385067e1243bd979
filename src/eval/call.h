#pragma once
// Helpers shared by the evaluator's functions. Each row of ops.def has one function, in one file
// per operator family; a missing function is a link error. The type rules have already checked the
// operands, so the functions do not check them again.

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "eval/arithmetic.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace thimble::eval {

struct Call {
  const ir::Op& op;
  std::vector<const ir::Tensor*> inputs;  // null if an optional operand is absent
  ir::Tensor& output;                     // has the result's type; zero-filled

  [[nodiscard]] int64_t integer(std::string_view name) const { return op.integer(name); }
  [[nodiscard]] bool has(size_t i) const { return inputs[i] != nullptr; }
  [[nodiscard]] const ir::Shape& shape(size_t i) const { return inputs[i]->shape; }
  template <typename T>
  [[nodiscard]] std::span<const T> input(size_t i) const {
    return inputs[i]->data<T>();
  }
  template <typename T>
  [[nodiscard]] std::span<T> result() const {
    return output.data<T>();
  }
};

/// Returns `value` clamped to the attributes `min` and `max` of an integer result.
[[nodiscard]] inline int8_t to_code(const Call& call, int64_t value) {
  return static_cast<int8_t>(clamp(value, call.integer("min"), call.integer("max")));
}

[[nodiscard]] inline int16_t to_code16(const Call& call, int64_t value) {
  return static_cast<int16_t>(clamp(value, call.integer("min"), call.integer("max")));
}

/// Stores element `index` of an int8, int16 or int32 result, clamped to `min` and `max`.
inline void store(const Call& call, size_t index, int64_t value) {
  const int64_t code = clamp(value, call.integer("min"), call.integer("max"));
  switch (call.output.dtype) {
    case ir::DType::kI16:
      call.result<int16_t>()[index] = static_cast<int16_t>(code);
      break;
    case ir::DType::kI32:
      call.result<int32_t>()[index] = static_cast<int32_t>(code);
      break;
    default:
      call.result<int8_t>()[index] = static_cast<int8_t>(code);
      break;
  }
}

/// True if operand 0 has 16-bit activations.
[[nodiscard]] inline bool is_wide(const Call& call) {
  return call.inputs[0]->dtype == ir::DType::kI16;
}

[[nodiscard]] inline Rounding rounding_of(const Call& call) {
  return static_cast<Rounding>(call.integer("rounding"));
}

/// Does the operator round halves to even, with the zero point inside?
[[nodiscard]] inline bool rounds_half_even(const Call& call) {
  return rounding_of(call) == Rounding::kEven;
}

/// Strides in elements of one operand along the dimensions of the result.
using OperandStrides = std::vector<int64_t>;

/// Returns the strides that broadcast an operand of shape `from` to `to`: 0 in repeated dimensions.
[[nodiscard]] OperandStrides broadcast_strides(const ir::Shape& from, const ir::Shape& to);

/// Visits the elements of `shape` in row-major order: visit(element index, N offsets). Offset n
/// advances by the strides `steps[n]`.
template <size_t N, typename Visit>
void for_each(const ir::Shape& shape, const std::array<OperandStrides, N>& steps, Visit visit) {
  const int64_t count = ir::element_count(shape);
  std::vector<int64_t> index(shape.size(), 0);
  std::array<int64_t, N> offset{};
  for (int64_t i = 0; i < count; ++i) {
    visit(static_cast<size_t>(i), offset);
    for (size_t dim = shape.size(); dim-- > 0;) {
      for (size_t n = 0; n < N; ++n) offset[n] += steps[n][dim];
      if (++index[dim] < shape[dim]) break;
      for (size_t n = 0; n < N; ++n) offset[n] -= steps[n][dim] * shape[dim];
      index[dim] = 0;
    }
  }
}

/// Visits every row along `dim`: visit(index of the first element, stride between elements).
template <typename Visit>
void for_each_row(const ir::Shape& shape, size_t dim, Visit visit) {
  int64_t step = 1;
  for (size_t i = dim + 1; i < shape.size(); ++i) step *= shape[i];
  const int64_t outer = ir::element_count(shape) / (step * shape[dim]);
  for (int64_t i = 0; i < outer; ++i) {
    for (int64_t j = 0; j < step; ++j) {
      visit(static_cast<size_t>(i * shape[dim] * step + j), static_cast<size_t>(step));
    }
  }
}

#define THIMBLE_OP(name, operands, attributes) void eval_##name(const Call& call);
#include "ir/ops.def"
#undef THIMBLE_OP

}  // namespace thimble::eval
