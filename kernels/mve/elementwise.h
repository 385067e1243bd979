// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bodies of elementwise operators on Helium, which native and stock operators share.

#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include <cstdint>

#include "abi/packed_ops.h"

namespace thimble::kernels::mve {

void add(const abi::AddFlat& params, const int8_t* a, const int8_t* b, int8_t* y);

/// One row of a product; steps are those between neighbouring elements.
struct MulRow {
  const int8_t* a;
  const int8_t* b;
  int8_t* y;
  uint32_t count, a_step, b_step;
};
void mul_row(const abi::MulParams& params, MulRow row);

}  // namespace thimble::kernels::mve

#endif
