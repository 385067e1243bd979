// SPDX-License-Identifier: Apache-2.0
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

  template <typename T>
  [[nodiscard]] const T& get(ir::AttrKey<T> key) const {
    return op.get(key);
  }
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

/// Stores element `index` of an int8, int16 or int32 result.
inline void store_code(const Call& call, size_t index, int64_t code) {
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

/// Returns a function store(index, value) that clamps a value to the attributes `min` and `max` and
/// stores it as an element of the integer result. The attributes are read once.
[[nodiscard]] inline auto clamped_store(const Call& call) {
  return [&call, low = call.get(ir::attr::min), high = call.get(ir::attr::max)](
             size_t index, int64_t value) { store_code(call, index, clamp(value, low, high)); };
}

/// Calls visit(T{}), where T is the C++ type of `dtype`. Booleans are bytes.
template <typename Visit>
void dispatch_dtype(ir::DType dtype, Visit visit) {
  switch (dtype) {
    case ir::DType::kF32:
      return visit(float{});
    case ir::DType::kI8:
      return visit(int8_t{});
    case ir::DType::kU8:
    case ir::DType::kBool:
      return visit(uint8_t{});
    case ir::DType::kI16:
      return visit(int16_t{});
    case ir::DType::kI32:
      return visit(int32_t{});
    case ir::DType::kI64:
      return visit(int64_t{});
  }
}

/// True if operand 0 has 16-bit activations.
[[nodiscard]] inline bool is_wide(const Call& call) {
  return call.inputs[0]->dtype == ir::DType::kI16;
}

[[nodiscard]] inline Rounding rounding_of(const Call& call) {
  return static_cast<Rounding>(call.get(ir::attr::rounding));
}

/// Does the operator round halves to even, with the zero point inside?
[[nodiscard]] inline bool rounds_half_even(const Call& call) {
  return rounding_of(call) == Rounding::kEven;
}

/// Returns the entry for channel `channel` of an operand with one entry or one entry per channel.
[[nodiscard]] inline int64_t channel_entry(const Call& call, size_t operand, int64_t channel) {
  const auto values = call.input<int32_t>(operand);
  return values.size() == 1 ? values[0] : values[static_cast<size_t>(channel)];
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

/// Visits the elements of the result: visit(element index, a, b), with both operands broadcast.
template <typename T, typename Visit>
void for_each_pair(const Call& call, Visit visit) {
  const auto a = call.input<T>(0);
  const auto b = call.input<T>(1);
  const ir::Shape& shape = call.output.shape;
  for_each<2>(shape,
              {broadcast_strides(call.shape(0), shape), broadcast_strides(call.shape(1), shape)},
              [&](size_t i, const std::array<int64_t, 2>& offset) {
                visit(i, a[static_cast<size_t>(offset[0])], b[static_cast<size_t>(offset[1])]);
              });
}

/// result = f(a, b). Boolean results are stored as 0 and 1.
template <typename T, typename To = T, typename F>
void map_pairs(const Call& call, F f) {
  for_each_pair<T>(call,
                   [&](size_t i, T a, T b) { call.result<To>()[i] = static_cast<To>(f(a, b)); });
}

/// Stores f(a, b) of quantized values, clamped to `min` and `max`.
template <typename T, typename F>
void map_quantized_pairs(const Call& call, F f) {
  const auto store = clamped_store(call);
  for_each_pair<T>(call, [&](size_t i, int64_t a, int64_t b) { store(i, f(a, b)); });
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

/// Copies each row along the attribute `dim` to a vector, applies `f`, and writes the vector to the
/// result.
template <typename T, typename From = T, typename F>
void map_rows(const Call& call, F f) {
  const size_t dim = static_cast<size_t>(call.get(ir::attr::dim));
  const auto x = call.input<From>(0);
  std::vector<T> row(static_cast<size_t>(call.shape(0)[dim]));
  for_each_row(call.shape(0), dim, [&](size_t first, size_t step) {
    for (size_t i = 0; i < row.size(); ++i) row[i] = x[first + i * step];
    f(row);
    for (size_t i = 0; i < row.size(); ++i) call.result<T>()[first + i * step] = row[i];
  });
}

/// Calls visit(index, elements) for each element of the result with the elements reduced to it.
template <typename T, typename Visit>
void for_each_reduced(const Call& call, Visit visit) {
  ir::Shape kept = call.shape(0);
  ir::Shape reduced(kept.size(), 1);
  for (const int64_t dim : call.op.get(ir::attr::dims)) {
    std::swap(kept[static_cast<size_t>(dim)], reduced[static_cast<size_t>(dim)]);
  }
  const OperandStrides steps = ir::strides(call.shape(0), {});
  const auto x = call.input<T>(0);
  std::vector<T> elements;
  for_each<1>(kept, {steps}, [&](size_t index, const std::array<int64_t, 1>& first) {
    elements.clear();
    for_each<1>(reduced, {steps}, [&](size_t, const std::array<int64_t, 1>& at) {
      elements.push_back(x[static_cast<size_t>(first[0] + at[0])]);
    });
    visit(index, elements);
  });
}

#define THIMBLE_OP(name, category, operands, attributes) void eval_##name(const Call& call);
#include "ir/ops.def"
#undef THIMBLE_OP

}  // namespace thimble::eval
