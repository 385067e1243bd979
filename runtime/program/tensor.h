// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kernels' view of a tensor (kernels::Tensor), as the runtime writes and copies it.

#include <string.h>
#include <cstddef>

#include "kernels/kernels.h"
#include "runtime/program/inline.h"

namespace thimble::runtime {

// Index: ExecuTorch scalar type: uint8, int8, int16, int32, int64, (5), float32, (7 to 10), bool.
// 0: no kernel supports the type (float16, float64, complex).
inline constexpr uint8_t kElementBytes[] = {1, 1, 2, 4, 8, 0, 4, 0, 0, 0, 0, 1};

/// Size in bytes of an element of an ExecuTorch scalar type; 0 for types that no kernel supports.
inline uint32_t element_bytes(uint32_t scalar_type) {
  return scalar_type < sizeof kElementBytes ? kElementBytes[scalar_type] : 0;
}

/// Same as element_bytes(), for a type that has been checked.
inline uint32_t known_element_bytes(uint32_t scalar_type) {
  return kElementBytes[scalar_type];
}

// rank, dtype, is_constant and is_null of kernels::Tensor as one 32-bit word, so that one store
// writes all four.
inline constexpr uint32_t kDTypeShift = 8, kIsConstant = 1U << 16, kIsNull = 1U << 24;
static_assert(offsetof(kernels::Tensor, dtype) == offsetof(kernels::Tensor, rank) + 1 &&
              offsetof(kernels::Tensor, is_constant) == offsetof(kernels::Tensor, rank) + 2 &&
              offsetof(kernels::Tensor, is_null) == offsetof(kernels::Tensor, rank) + 3);

/// Makes the kernel's view of a tensor. `is_verified`: load has verified alignment, range and
/// dim_order, and the tensor is not empty: kernels require at least one element.
THIMBLE_INLINE void make_tensor(const void* sizes, const uint8_t* dim_order, uint32_t bytes,
                                void* data, uint32_t packed_fields, bool is_verified,
                                kernels::Tensor& tensor) {
  tensor.data = data;
  tensor.sizes = static_cast<const int32_t*>(sizes);
  tensor.dim_order = dim_order;
  tensor.bytes = bytes;
  constexpr size_t kAt = offsetof(kernels::Tensor, rank);
  void* const at = __builtin_assume_aligned(reinterpret_cast<char*>(&tensor) + kAt, 4);
  memcpy(at, &packed_fields, sizeof packed_fields);
  tensor.is_verified = is_verified;
}

/// Copies the bytes of a kernels::Tensor in two halves, each small enough that no compiler emits a
/// loop or a call.
THIMBLE_INLINE void copy_tensor(const void* from, void* to) {
  constexpr size_t kHalf = 16;
  from = __builtin_assume_aligned(from, alignof(kernels::Tensor));
  to = __builtin_assume_aligned(to, alignof(kernels::Tensor));
  memcpy(to, from, kHalf);
  memcpy(static_cast<char*>(to) + kHalf, static_cast<const char*>(from) + kHalf,
         sizeof(kernels::Tensor) - kHalf);
}

}  // namespace thimble::runtime
