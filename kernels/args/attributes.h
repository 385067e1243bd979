#pragma once
// The attributes of a direct operator: one constant of 32-bit words, in the order of the operator's
// row of src/ir/ops.def.

#include <cstdint>

#include "kernels/args/operands.h"

namespace thimble::kernels {

/// Exactly `count` words.
inline Status check_attributes(const Tensor& t, uint32_t count) {
  const uint32_t bytes = count * static_cast<uint32_t>(sizeof(int32_t));
  if (const Status s = check_blob(t, bytes); s != Status::kOk) return s;
  return t.bytes == bytes ? Status::kOk : Status::kBadParameter;
}
inline const int32_t* attributes(const Tensor& t) {
  return static_cast<const int32_t*>(t.data);
}

}  // namespace thimble::kernels
