// SPDX-License-Identifier: Apache-2.0
#pragma once
// The portable bodies of pools. Stock pools run a packed body if its geometry can express the call.

#include "kernels/args/pool.h"

namespace thimble::kernels {

void average_pool(const Pool& pool);
void maximum_pool(const Pool& pool);

/// Operands: x, WindowGeometry, y.
void average_windows(void* const* operands);
void maximum_of_windows(void* const* operands);

}  // namespace thimble::kernels
