// SPDX-License-Identifier: Apache-2.0
#pragma once
// Declares every kernel of this build, one object for each row of kernels.def. It is separate from
// kernels.h, so that a new row does not recompile other kernels.

#include "kernels/isa.h"
#include "kernels/kernels.h"

namespace thimble::kernels {

#define THIMBLE_KERNEL(variant, op) THIMBLE_IF_##variant(extern const Kernel variant##_##op;)
#include "kernels/kernels.def"
#undef THIMBLE_KERNEL

}  // namespace thimble::kernels
