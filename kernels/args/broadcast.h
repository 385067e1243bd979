// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operands of any element type that broadcast to the output. These kernels write the output in
// memory order and read each operand at the same logical position.

#include <cstdint>

#include "kernels/args/operands.h"
#include "kernels/args/stride_iterator.h"

namespace thimble::kernels {

/// Checks that all tensors are sound and that y has the numpy broadcast shape of the 1 to 3
/// operands.
Status check_broadcast(const Tensor* const* operands, uint32_t count, const Tensor& y);
/// Returns a traversal with offsets and steps in elements, one per operand.
StrideIterator broadcast_iterator(const Tensor* const* operands, uint32_t count, const Tensor& y);

/// Computes y = f(a, b) elementwise.
template <class Y, class T, class F>
void for_pairs(const Tensor& a, const Tensor& b, const Tensor& y, F f) {
  const Tensor* const operands[] = {&a, &b};
  StrideIterator iterator = broadcast_iterator(operands, 2, y);
  Y* out = static_cast<Y*>(y.data);
  do {
    const StrideIterator::Axis& row = iterator.row();
    const T* left = static_cast<const T*>(a.data) + iterator.offset[0];
    const T* right = static_cast<const T*>(b.data) + iterator.offset[1];
    for (int32_t i = 0; i < row.extent; ++i) {
      *out++ = f(*left, *right);
      left += row.step[0];
      right += row.step[1];
    }
  } while (iterator.next());
}

/// Returns true for the types that integer kernels support: all except float.
inline bool is_integer_type(DType dtype) {
  return dtype != DType::kF32;
}
/// Calls f with a zero of the element type; bool is uint8_t. Requires is_integer_type(dtype).
template <class F>
void dispatch_integer_type(DType dtype, F f) {
  switch (dtype) {
    case DType::kI8:
      return f(int8_t{});
    case DType::kI16:
      return f(int16_t{});
    case DType::kI32:
      return f(int32_t{});
    case DType::kI64:
      return f(int64_t{});
    default:
      return f(uint8_t{});
  }
}

}  // namespace thimble::kernels
