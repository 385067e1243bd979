#pragma once
// An operand that holds positions, int32 or int64. It may come from outside at run time, so what it
// holds is never trusted: below 0 it counts from the end, and beyond either end it means the first
// or the last (docs/numerics.md, "Gathering").

#include <cstdint>

#include "kernels/args/operands.h"

namespace thimble::kernels {

inline Status check_index(const Tensor& index) {
  if (!index.is_null && index.dtype != DType::kI32 && index.dtype != DType::kI64) {
    return Status::kBadDType;
  }
  return check_tensor(index);
}

/// The position that element `i` in memory stands for, in 0..size-1.
inline int32_t position(const Tensor& index, int32_t i, int32_t size) {
  int64_t at = index.dtype == DType::kI32 ? static_cast<const int32_t*>(index.data)[i]
                                          : static_cast<const int64_t*>(index.data)[i];
  if (at < 0) at += size;
  return static_cast<int32_t>(at < 0 ? 0 : at < size ? at : size - 1);
}

}  // namespace thimble::kernels
