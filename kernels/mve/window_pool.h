// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bodies of the packed pools on Helium, which native and stock operators share. Operands: x,
// WindowGeometry, y.

#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
namespace thimble::kernels::mve {

void average_windows(void* const* operands);
void maximum_of_windows(void* const* operands);

}  // namespace thimble::kernels::mve

#endif
