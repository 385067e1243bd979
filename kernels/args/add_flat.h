// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operands of add_flat: a, b, AddFlat constant, y. In place: y may be a or b.

#include "abi/packed_ops.h"
#include "kernels/kernels.h"

namespace thimble::kernels {

inline const abi::AddFlat& add_flat(const void* constant) {
  return *static_cast<const abi::AddFlat*>(constant);
}
Status check_add_flat(const Call& call);

}  // namespace thimble::kernels
