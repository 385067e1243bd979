// SPDX-License-Identifier: Apache-2.0
#pragma once
// A stock linear layer: rows times weights in the order of the file.

#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include "kernels/args/linear.h"

namespace thimble::kernels::mve {

/// Requires shifts_supported() and at least four channels.
void multiply_unpacked_rows(const Linear& linear);

}  // namespace thimble::kernels::mve

#endif
