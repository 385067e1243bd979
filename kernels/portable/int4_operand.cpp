// SPDX-License-Identifier: Apache-2.0
// int4_operand() of dot_int4.h on cores without Helium.

#include "kernels/isa.h"

#if !THIMBLE_HAS_MVE

#include "kernels/portable/dot_int4.h"

namespace thimble::kernels {

Int4Operand int4_operand(const int8_t* x, int32_t n, int32_t offset) {
  int32_t sum = n * offset;
  for (int32_t i = 0; i < n; ++i) sum += x[i];
  return {x, n, offset, 8 * static_cast<uint32_t>(sum)};
}

}  // namespace thimble::kernels

#endif
