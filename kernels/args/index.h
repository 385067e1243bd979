// SPDX-License-Identifier: Apache-2.0
#pragma once
// An operand with indices, int32 or int64. It may come from outside at run time, so its values are
// not trusted. A negative index counts from the end. An index out of range is clamped to the first
// or the last element (docs/numerics.md, "Gathering").

#include <cstdint>

#include "abi/ops/movement.h"
#include "abi/params/movement.h"
#include "kernels/args/move.h"
#include "kernels/args/params.h"

namespace thimble::kernels {

inline Status check_index(const Tensor& index) {
  if (!index.is_null && index.dtype != DType::kI32 && index.dtype != DType::kI64) {
    return Status::kBadDType;
  }
  return check_tensor(index);
}

/// Checks gather and gather_elements, whose operands are x, index, GatherParams and y, except
/// the sizes of y.
inline Status check_gather_operands(const Call& call) {
  const Tensor& x = tensor(call, 0);
  THIMBLE_RETURN_IF_ERROR(
      check_params<abi::op_info::thimble_gather, abi::op_info::thimble_gather_elements>(
          tensor(call, 2)));
  THIMBLE_RETURN_IF_ERROR(check_index(tensor(call, 1)));
  THIMBLE_RETURN_IF_ERROR(check_pair(x, tensor(call, 3)));
  const auto dim = static_cast<uint32_t>(
      params<abi::op_info::thimble_gather, abi::op_info::thimble_gather_elements>(tensor(call, 2))
          .dim);
  return dim < x.rank ? Status::kOk : Status::kBadParameter;
}
inline Status check_gather_layout(const Call& call) {
  const bool plain = is_contiguous(tensor(call, 0)) && is_contiguous(tensor(call, 1)) &&
                     is_contiguous(tensor(call, 3));
  return plain ? Status::kOk : Status::kBadDimOrder;
}

/// Returns the position, in 0..size-1, that element `i` in memory refers to.
inline int32_t position(const Tensor& index, int32_t i, int32_t size) {
  int64_t at = index.dtype == DType::kI32 ? static_cast<const int32_t*>(index.data)[i]
                                          : static_cast<const int64_t*>(index.data)[i];
  if (at < 0) at += size;
  return static_cast<int32_t>(at < 0 ? 0 : at < size ? at : size - 1);
}

}  // namespace thimble::kernels
