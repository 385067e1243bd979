// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/params.h"

namespace thimble::kernels {

Status check_params(const Tensor& t, uint32_t bytes) {
  THIMBLE_RETURN_IF_ERROR(check_blob(t, bytes));
  return t.bytes == bytes ? Status::kOk : Status::kBadParameter;
}

Status check_params_and_dims(const Tensor& t, uint32_t bytes, uint32_t rank) {
  THIMBLE_RETURN_IF_ERROR(check_blob(t, bytes));
  const auto* const end = static_cast<const uint8_t*>(t.data) + bytes;
  const auto& dims = *reinterpret_cast<const abi::IntTail*>(end - sizeof(abi::IntTail));
  if (dims.count < 1 || dims.count > static_cast<int32_t>(rank)) return Status::kBadParameter;
  const auto count = static_cast<uint32_t>(dims.count);
  if (t.bytes != bytes + count * sizeof(int32_t)) return Status::kBadParameter;
  uint32_t seen = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const auto dim = static_cast<uint32_t>(dims.items()[i]);
    if (dim >= rank || (seen >> dim & 1) != 0) return Status::kBadParameter;
    seen |= 1U << dim;
  }
  return Status::kOk;
}

uint32_t dims_mask(const abi::IntTail& dims) {
  uint32_t mask = 0;
  for (int32_t i = 0; i < dims.count; ++i) mask |= 1U << dims.items()[i];
  return mask;
}

}  // namespace thimble::kernels
